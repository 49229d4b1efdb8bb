def page(comparison): return ''
