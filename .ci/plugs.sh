# The steps of `.ci/full plugs`. Sourced, not run.

plugs() {
    part plugs 28
    step "plug tests" plug_tests
    step "plug torchvision" plug_torchvision
    notes_of "plug torchvision"
    step "plug timm" plug_timm
    notes_of "plug timm"
    step "plug ultralytics" plug_ultralytics
    step "proof" proof
}

# trainer_environment NAME LIST: Python in $work/NAME with the packages of the list, torch's packages and feedline.
trainer_environment() {
    torch_environment
    listed_environment "$1" "$2"
    python_package plugs-feedline numpy
    local site
    site=$(find "$work/$1/lib" -maxdepth 2 -name site-packages)
    find "$work/torch/lib/" -maxdepth 2 -name site-packages >"$site/torch.pth"
    rm -rf "$site/feedline"
    cp -r "$(find "$work/plugs-feedline/lib" -maxdepth 2 -name site-packages)/feedline" "$site/feedline"
}

# With the trainers of vision; what Ultralytics keeps goes there, too.
plug_environment() {
    trainer_environment plugs python/tests/plug/requirements.txt
    export YOLO_OFFLINE=1 YOLO_CONFIG_DIR=$work/plugs
}

# Batches beside those of the trainers' own loaders.
plug_tests() {
    plug_environment
    FEEDLINE_TEST_PLUGS=1 "$work/plugs/bin/pytest" -c python/pyproject.toml \
        python/tests/plug/test_plug_{timm,torchvision,ultralytics}.py
}

# Small data sets of the bundled photographs in $work/plug-sets.
plug_sets() {
    rm -rf "$work/plug-sets"
    "$work/plugs/bin/python" python/tests/plug/data_sets.py "$work/plug-sets" --every 6
}

# upstream OWNER/NAME COMMIT: a checkout of that commit in $work/upstream/NAME; fails where there is none to be had.
# FEEDLINE_UPSTREAM=FOLDER has repositories as FOLDER/OWNER/NAME in the place of GitHub's.
upstream() {
    local commit=$2 folder=$work/upstream/${1#*/}
    if [[ $(git -C "$folder" rev-parse --verify --quiet HEAD) != "$commit" ]]; then
        rm -rf "$folder"
        git init --quiet "$folder"
        timeout 300 git -C "$folder" fetch --quiet --depth 1 "${FEEDLINE_UPSTREAM:-https://github.com}/$1" "$commit" || return 1
        git -C "$folder" checkout --quiet FETCH_HEAD || return 1
    fi
    git -C "$folder" checkout --quiet --force HEAD
}

# changed NAME: the script with the lines that docs/trainers.md changes below `<!-- diff: NAME -->`, at most ten.
changed() {
    local lines=$work/$1.diff
    awk -v mark="<!-- diff: $1 -->" '
        $0 == mark { wanted = 1; next }
        wanted && /^```/ { if (inside) exit; inside = 1; next }
        wanted && inside { print }' docs/trainers.md >"$lines"
    (($(grep -c '^[+-][^+-]' "$lines") <= 10)) || missing "a diff of at most ten lines for $1 in docs/trainers.md"
    git -C "$work/upstream/$2" apply --unidiff-zero "$lines"
}

# upstream_of NAME: the commit that docs/trainers.md names for a repository.
upstream_of() {
    grep -oE "github.com/$1/tree/[0-9a-f]{40}" docs/trainers.md | head -n 1 | grep -oE '[0-9a-f]{40}'
}

# torchvision's three training scripts, for an epoch each.
plug_torchvision() {
    plug_environment
    plug_sets
    local scripts=$work/upstream/vision/references sets=$work/plug-sets script
    upstream pytorch/vision "$(upstream_of pytorch/vision)" ||
        { echo "NOTE: torchvision's scripts NOT run: its repository could not be fetched"; return 0; }
    for script in classification detection segmentation; do changed "$script" vision; done
    local common=(--device cpu --epochs 1 --workers 2 --print-freq 1 --lr 0.001)
    run_in "$scripts/classification" train.py "${common[@]}" --data-path "$sets/classes" --model resnet18 --batch-size 4 \
        --train-crop-size 64 --val-crop-size 64 --val-resize-size 72 --auto-augment ta_wide --mixup-alpha 0.2 \
        --cutmix-alpha 1 --output-dir ""
    run_in "$scripts/detection" train.py "${common[@]}" --data-path "$sets/coco" --batch-size 2 --output-dir "" \
        --model fasterrcnn_mobilenet_v3_large_320_fpn --aspect-ratio-group-factor -1
    run_in "$scripts/segmentation" train.py "${common[@]}" --data-path "$sets/voc" --dataset voc --batch-size 2 \
        --model lraspp_mobilenet_v3_large --output-dir ""
}

# timm's training script, for two epochs; mixing ends after the first.
plug_timm() {
    plug_environment
    plug_sets
    upstream huggingface/pytorch-image-models "$(upstream_of huggingface/pytorch-image-models)" ||
        { echo "NOTE: timm's script NOT run: its repository could not be fetched"; return 0; }
    changed timm pytorch-image-models
    rm -rf "$work/plug-timm"
    # A copy, beside which there is no folder named timm: the package is the one that is installed.
    mkdir -p "$work/plug-timm"
    cp "$work/upstream/pytorch-image-models/train.py" "$work/plug-timm/train.py"
    run_in "$work/plug-timm" train.py --data-dir "$work/plug-sets/classes" --model resnet18 --num-classes 8 --img-size 64 \
        --batch-size 4 --epochs 2 --device cpu --workers 2 --mixup 0.2 --cutmix 1 --mixup-off-epoch 1 --reprob 0.25 \
        --aa rand-m9-mstd0.5-inc1 --output "$work/plug-timm/out"
}

# run_in FOLDER SCRIPT ARGUMENT...: runs a script of Python where it lies.
run_in() {
    (cd "$1" && "$work/plugs/bin/python" -W ignore "${@:2}")
}

# Ultralytics' trainers of all tasks, two epochs each, and its validation of the same weights on its own batches.
plug_ultralytics() {
    plug_environment
    plug_sets
    local task data model
    for task in detect segment pose obb classify; do
        data=$work/plug-sets/$task/data.yaml model=yolo11n-$task.yaml
        case $task in
            detect) model=yolo11n.yaml ;;
            segment) model=yolo11n-seg.yaml ;;
            classify) data=$work/plug-sets/classes model=yolo11n-cls.yaml ;;
        esac
        "$work/plugs/bin/python" -W ignore examples/python/plug_ultralytics.py --data "$data" --model "$model" --epochs 2 \
            --imgsz 64 --batch 4 --device cpu --project "$work/plug-runs"
    done
}

# The scripts of docs/proof.md on a few images: every run has its figures, and the page takes them.
proof() {
    plug_environment
    local folder=$work/proof
    rm -rf "$folder"
    mkdir -p "$folder/docs"
    cp docs/proof.md "$folder/docs"
    "$work/plugs/bin/python" examples/python/proof/run.py "$folder" --tiny
    "$work/plugs/bin/python" examples/python/proof/report.py "$folder/tiny" --docs "$folder/docs"
    [[ -s $folder/docs/pictures/proof-classifier.svg && -s $folder/docs/pictures/proof-detector.svg ]] ||
        missing "the curves that report.py draws"
    (($(grep -c '^| seed 0 |' "$folder/docs/proof.md") == 3)) # accuracy, mAP50 and mAP50-95
}
