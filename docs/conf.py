# Configuration of Sphinx; `cmake --build --preset real --target docs` runs it with the generated manual pages beside these files.
project = "PETScTT"
copyright = "the PETScTT authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "230px"}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_show_sphinx = False
