"""The picture of how many cores keep the GPU fed, as SVG written by hand: no library to install where it is drawn."""

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 216, 56, 56
COLOURS = ("#2f8f9d", "#d9843b", "#b0549b", "#4063a8", "#74a356")


def fed(result, gpu, model="resnet18"):
    """One line a loader: the trainer's speed behind it, in percent of its speed with nothing to wait for."""
    runs = [run for run in result.get("runs", []) if run["model"] == model and run["fed"] is not None]
    cores = sorted({run["cores"] for run in runs}) or [1]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 24, "Cores needed to keep the GPU fed", size=16),
        text(LEFT, 42, f"the trainer's speed, of its speed with nothing to wait for; {model}, {gpu}"
                       f"{'' if runs else ': no figure'}", fill="#555"),
    ]
    parts += [part for share in (0, 25, 50, 75, 100) for part in rule(share)]
    parts += [text(x_of(count, cores), HEIGHT - BOTTOM + 20, str(count), anchor="middle") for count in cores]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "cores, for the loader and the trainer together",
                      anchor="middle"))
    names = list(dict.fromkeys(run["contender"] for run in runs))
    places = label_places([100 * [run for run in runs if run["contender"] == name][-1]["fed"] for name in names])
    for name, colour, place in zip(names, COLOURS, places):
        points = [(x_of(run["cores"], cores), y_of(100 * run["fed"])) for run in runs if run["contender"] == name]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in points]
        parts.append(text(WIDTH - RIGHT + 12, place + 4, name, fill=colour))
    return "\n".join([*parts, "</svg>", ""])


def x_of(count, cores):
    """Core counts double, and stand at equal distances."""
    return LEFT + 16 + (WIDTH - LEFT - RIGHT - 32) * cores.index(count) / max(len(cores) - 1, 1)


def y_of(percent):
    """A loader that shares the GPU's caches well may seem to speed the trainer up by a hair: 105 % is the top."""
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(percent, 105) / 105


def rule(percent):
    """A line across with its label."""
    y = y_of(percent)
    return (f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
            text(LEFT - 8, y + 4, f"{percent} %", anchor="end"))


def label_places(percents):
    """Heights of the names beside the last points, moved apart where they would lie on each other."""
    places = [0.0] * len(percents)
    last = -1e9
    for index in sorted(range(len(percents)), key=lambda index: -percents[index]):
        last = places[index] = max(y_of(percents[index]), last + 18)
    return places


def text(x, y, words, fill="#222", anchor="start", size=13):
    """A line of text."""
    escaped = str(words).replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" text-anchor="{anchor}" font-size="{size}">{escaped}</text>'
