//! The explanation as a page: the picture, and the text to be copied.

use super::svg::escaped;

/// A self-contained HTML page of a picture and a text.
pub(super) fn write(title: &str, svg: &str, text: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{}</title>\n\
         <style>body{{margin:24px;background:#fff;color:#1f2328}}svg{{max-width:100%;height:auto}}\
         pre{{font-size:13px;line-height:1.4}}</style>\n\
         </head>\n<body>\n{svg}<details>\n<summary>As text</summary>\n<pre>{}</pre>\n</details>\n\
         </body>\n</html>\n",
        escaped(title),
        escaped(text)
    )
}
