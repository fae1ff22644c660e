# The steps of `.ci/full plugs` about Lightning, Hugging Face, Keras, JAX, torchdata and Ray. Sourced, not run.

frameworks() {
    step "framework tests" framework_tests
    step "plug lightning" plug_lightning
    notes_of "plug lightning"
    step "plug transformers" plug_transformers
    notes_of "plug transformers"
    step "plug accelerate" plug_accelerate
    notes_of "plug accelerate"
    step "plug ray" plug_ray
}

# With these trainers, none of which is to look for a network.
framework_environment() {
    trainer_environment frameworks python/tests/plug/requirements-frameworks.txt
    export HF_HUB_OFFLINE=1 HF_HOME=$work/frameworks/hugging-face ACCELERATE_USE_CPU=true
}

# Batches, states and ranks, and the Python that docs/trainers.md shows.
framework_tests() {
    framework_environment
    FEEDLINE_TEST_PLUGS=1 "$work/frameworks/bin/pytest" -c python/pyproject.toml \
        python/tests/plug/test_plug_{accelerate,docs,jax,keras,lightning,ray,torchdata,transformers}.py
}

# What the scripts read, in $work/framework-inputs.
framework_inputs() {
    rm -rf "$work/framework-inputs"
    mkdir "$work/framework-inputs"
    "$work/frameworks/bin/python" -W ignore python/tests/plug/script_inputs.py "$work/framework-inputs"
}

# fetched NAME OWNER/NAME PATH: the upstream script, of the commit that docs/trainers.md names, as $work/scripts/NAME/stock.py;
# fails where it cannot be fetched. FEEDLINE_UPSTREAM is as for `upstream`.
fetched() {
    local commit folder=$work/scripts/$1
    commit=$(upstream_of "$2")
    mkdir -p "$folder"
    if [[ ${FEEDLINE_UPSTREAM:-} ]]; then
        git -C "$FEEDLINE_UPSTREAM/$2" show "$commit:$3" >"$folder/stock.py"
    else
        curl --fail --silent --show-error --location --max-time 60 --output "$folder/stock.py" \
            "https://raw.githubusercontent.com/$2/$commit/$3"
    fi
}

# with_changes NAME OWNER/NAME PATH: its copy, as docs/trainers.md changes it, as $work/scripts/NAME/changed.py.
with_changes() {
    local folder=$work/upstream/${2#*/}
    rm -rf "$folder"
    git init --quiet "$folder"
    mkdir -p "$(dirname "$folder/$3")"
    cp "$work/scripts/$1/stock.py" "$folder/$3"
    changed "$1" "${2#*/}"
    cp "$folder/$3" "$work/scripts/$1/changed.py"
}

# run_script SCRIPT ARGUMENT...: runs a script in $work/framework-inputs.
run_script() {
    (cd "$work/framework-inputs" && "$work/frameworks/bin/python" -W ignore "$@")
}

# Lightning's ImageNet script: an epoch by the command that docs/trainers.md shows, and an evaluation, which has the loss that it
# has with the script's own loader: they differ by Pillow's resize alone.
plug_lightning() {
    framework_environment
    framework_inputs
    local script=(lightning Lightning-AI/pytorch-lightning examples/pytorch/domain_templates/imagenet.py)
    fetched "${script[@]}" || { echo "NOTE: Lightning's script NOT run: it could not be fetched"; return 0; }
    with_changes "${script[@]}"
    local folder=$work/scripts/lightning
    local common=(--model.data_path classes --model.arch resnet18 --model.batch_size 16 --model.workers 0
        --trainer.accelerator cpu)
    documented lightning |
        sed -e 's|^python imagenet.py|"$@"|; s|--model.data_path imagenet||; s|imagenet/|classes/|; s|256|16|; $s|$| $more|' \
            >"$folder/command.sh"
    (cd "$work/framework-inputs" && more="${common[*]} --trainer.max_epochs 1" bash -euc ". $folder/command.sh" \
        - "$work/frameworks/bin/python" -W ignore "$folder/changed.py")
    run_script "$folder/stock.py" validate "${common[@]}" | tee "$folder/stock.txt"
    run_script "$folder/changed.py" validate "${common[@]}" \
        --data.val '{"data": "classes/val", "recipe": "imagenet-eval", "batch_size": 16, "exif": false, "as_tuple": true}' | tee "$folder/changed.txt"
    close_to "$(loss_in "$folder/changed.txt")" "$(loss_in "$folder/stock.txt")"
}

# Hugging Face's script for image classification: an epoch, and an evaluation, compared likewise.
plug_transformers() {
    framework_environment
    framework_inputs
    local script=(transformers huggingface/transformers examples/pytorch/image-classification/run_image_classification.py)
    fetched "${script[@]}" || { echo "NOTE: Hugging Face's script NOT run: it could not be fetched"; return 0; }
    with_changes "${script[@]}"
    local folder=$work/scripts/transformers name
    local common=(--model_name_or_path model --train_dir classes/train --validation_dir classes/val --use_cpu --report_to none
        --remove_unused_columns False --per_device_train_batch_size 8 --per_device_eval_batch_size 8)
    for name in stock changed; do
        run_script "$folder/$name.py" "${common[@]}" --do_eval --output_dir "$name"
    done
    close_to "$(eval_loss changed)" "$(eval_loss stock)"
    run_script "$folder/changed.py" "${common[@]}" --do_train --do_eval --num_train_epochs 1 --output_dir trained
}

# accelerate's script for pictures, three epochs of a small untrained network; alone and on two processes.
plug_accelerate() {
    framework_environment
    framework_inputs
    local script=(accelerate huggingface/accelerate examples/cv_example.py)
    fetched "${script[@]}" || { echo "NOTE: accelerate's script NOT run: it could not be fetched"; return 0; }
    with_changes "${script[@]}"
    local small=$work/scripts/accelerate/small.py
    sed -e 's/"resnet50d", pretrained=True/"test_resnet", pretrained=False/; s/"image_size": 224/"image_size": 64/' \
        "$work/scripts/accelerate/changed.py" >"$small"
    run_script "$small" --data_dir pets --cpu
    run_script -m torch.distributed.run --standalone --nproc-per-node 2 "$small" --data_dir pets --cpu
}

plug_ray() {
    framework_environment
    "$work/frameworks/bin/python" examples/python/ray_train.py
    "$work/frameworks/bin/python" examples/python/ray_data.py
}

# documented NAME: the command that docs/trainers.md shows below `<!-- run: NAME -->`.
documented() {
    awk -v mark="<!-- run: $1 -->" '
        $0 == mark { wanted = 1; next }
        wanted && /^```/ { if (inside) exit; inside = 1; next }
        wanted && inside { print }' docs/trainers.md
}

# loss_in FILE: the loss that Lightning printed.
loss_in() {
    grep -oE 'val_loss[^0-9]+[0-9.]+' "$1" | grep -oE '[0-9.]+$'
}

# eval_loss FOLDER: the loss that Hugging Face's script wrote there.
eval_loss() {
    grep -oE '"eval_loss": [0-9.]+' "$work/framework-inputs/$1/eval_results.json" | grep -oE '[0-9.]+$'
}

# close_to NUMBER NUMBER: both are there, and differ by less than a ten-thousandth.
close_to() {
    echo "losses: $1 with feedline, $2 with the script's own loader"
    awk -v own="$1" -v stock="$2" 'BEGIN { exit !(own > 0 && stock > 0 && (own - stock) ^ 2 < (stock / 10000) ^ 2) }'
}
