"""The page's templates and style, and files of others that go into the page or a figure (`vendor`).

`vendor/vendor.json` has the package, version, license and checksum of each of these. They are the files of the npm
packages that it names, unchanged; but matplotlib reads no WOFF2, so each font is there unpacked as well, and its entry
says from which file and how. Nothing is fetched when a page is made or opened.
"""
