# The steps of `.ci/full recipes` whose tools are the recipes' authors' own, and the second reader of files of coefficients. Sourced, not run.

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

# Files of coefficients by a reader that was made of docs/coefficients.md alone, against the JPEGs as jpeglib reads them.
second_reader() {
    venv second-reader numpy jpeglib
    cargo build --locked --release --quiet
    local pairs=$work/pairs photo name profile
    rm -rf "$pairs"
    mkdir "$pairs"
    for photo in data/photos/*/*.jpg; do
        for profile in small fast; do
            name=$pairs/$(basename "$(dirname "$photo")")-$(basename "$photo" .jpg)-$profile
            cp "$photo" "$name.jpg"
            target/release/feedline convert --profile "$profile" "$photo" "$name.fjc" >/dev/null
        done
    done
    "$work/second-reader/bin/python" tests/python/coefficients_reader.py "$pairs"
}
