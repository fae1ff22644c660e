"""The cases that are compared with torchvision: drawn by the generator that the renderers' own tests use."""

import json
import subprocess

TIMEOUT_S = 600


def draw(program, rows, sizes, longest_side, seed, draws):
    """Cases of each row, as {"row", "image" (which of `sizes`, (width, height)), "ops"}; `rows` holds, for each position
    of the chain, the names of the operations that it is one of."""
    wanted = {"seed": seed, "draws": draws, "longest": longest_side, "sizes": sizes, "rows": rows}
    try:
        done = subprocess.run([str(program)], input=json.dumps(wanted), capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=True)
    except OSError as error:
        raise SystemExit(f"{program}: {error.strerror}; build it with "
                         f"`cargo build --release --example random_chains`") from error
    return [json.loads(line) for line in done.stdout.splitlines()]
