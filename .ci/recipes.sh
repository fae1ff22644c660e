# The steps of `.ci/full recipes`. Sourced, not run.

# Python in $work/recipes with what recipes come from: timm, Albumentations, and torch's packages.
recipe_environment() {
    torch_environment
    listed_environment recipes tests/python/recipes/requirements.txt
    find "$work/torch/lib" -maxdepth 2 -name site-packages >"$(find "$work/recipes/lib" -maxdepth 2 -name site-packages)/torch.pth"
}

# Every recipe, as a whole, beside the library that it comes from: pixels, labels and draws.
recipe_parity() {
    recipe_environment
    cargo build --locked --release --quiet --bins --example recipe_samples
    "$work/recipes/bin/python" tests/python/recipe_parity.py --recipe all
}

# Single ops, beside Pillow, and beside Albumentations and OpenCV.
ops_parity() {
    recipe_environment
    cargo build --locked --release --quiet
    "$work/recipes/bin/python" "tests/python/$1_parity.py"
}

# Masks of objects, beside those of pycocotools and OpenCV.
mask_parity() {
    recipe_environment
    python_package masks numpy
    PYTHONPATH=$(find "$work/masks/lib" -maxdepth 2 -name site-packages) "$work/recipes/bin/python" tests/python/mask_parity.py
}
