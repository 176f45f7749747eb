/** What `npm run docs` writes into a page, between its marks. */
export const BLOCK =
  /(?<=<!-- written by npm run docs: begin -->\n\n)[\s\S]*?(?=\n\n<!-- written by npm run docs: end -->)/g;

/** A table in Markdown. @param rows each as a line */
export function table(head: readonly string[], rows: readonly string[]): string {
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows].join('\n');
}
