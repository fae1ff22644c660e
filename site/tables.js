// Marks the tables that hold prose: a phone shows their rows as blocks (site.css), with the column's name ahead of each cell. Those of
// figures scroll.
(() => {
    const MOST_COLUMNS = 6;
    const PROSE = 28; // characters
    // Some browsers (Safari) tell screen readers of no table where its parts are shown as blocks, unless it says so.
    const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TH: "columnheader", TD: "cell" };
    for (const table of document.querySelectorAll("main table")) {
        const names = [...table.querySelectorAll("thead th")].map(each => each.textContent.trim());
        const cells = [...table.querySelectorAll("tbody td")];
        const isProse = cells.some(each => each.cellIndex && each.textContent.length > PROSE);
        if (names.length > MOST_COLUMNS || !isProse) continue;
        table.classList.add("prose");
        if (names.length <= 2) table.classList.add("two");
        for (const part of [table, ...table.querySelectorAll("thead, tbody, tr, th, td")]) part.setAttribute("role", ROLES[part.tagName]);
        for (const cell of cells) cell.dataset.column = cell.cellIndex && names.length > 2 ? names[cell.cellIndex] : "";
    }
})();
