# The steps of `.ci/full site`. Sourced, not run.

site_part() {
    part site 10
    step "site's list of pages" site_list
    step "site's build" site/build
    notes_of "site's build"
}

# What is refused as a list of pages, and what becomes of links.
site_list() {
    python3 -B -m unittest --quiet tests/python/site_pages.py
}
