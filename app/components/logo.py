"""The word mark: a calibration curve meeting its diagonal. Mid-tones, so it reads on light and on dark."""

_DRAWING = """<rect x="1" y="3" width="26" height="26" rx="6" fill="#5f54e6"/>
<path d="M6 24 22 8" stroke="#fff" stroke-opacity=".55" stroke-width="1.6" stroke-dasharray="2.4 2.4" fill="none"/>
<path d="M6 24C12 23 11 13 22 8" stroke="#fff" stroke-width="2.4" stroke-linecap="round" fill="none"/>"""

MARK = f"""<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 2 28 28">{_DRAWING}</svg>"""

LOGO = f"""<svg xmlns="http://www.w3.org/2000/svg" width="132" height="32" viewBox="0 0 132 32">{_DRAWING}
<text x="36" y="23" font-family="Source Sans, Helvetica, Arial, sans-serif" font-size="21" font-weight="700"
 fill="#6d64ea">EliCal</text></svg>"""
