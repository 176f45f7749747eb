/** A4 in points, with room for 64 lines of 95 characters. */
const [WIDTH, HEIGHT, MARGIN, LEADING, SIZE] = [595, 842, 40, 12, 9];
const LINES_A_PAGE = 64;

/**
 * Makes a small PDF (1.4, ISO 32000-1) with lines of text in Courier on A4 pages.
 *
 * @param lines characters other than printable Latin-1 become `?`
 */
export function textPdf(title: string, lines: readonly string[]): Buffer {
  const pages = Array.from({ length: Math.max(1, Math.ceil(lines.length / LINES_A_PAGE)) }, (_, page) =>
    lines.slice(page * LINES_A_PAGE, (page + 1) * LINES_A_PAGE),
  );
  // 1 catalog, 2 page tree, 3 font, 4 information, then page and content of each page.
  const pageNumber = (page: number): number => 5 + 2 * page;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, page) => `${pageNumber(page)} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
    `<< /Title ${literal(title)} /Producer (Sandbox Bank) >>`,
    ...pages.flatMap((content, page) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${WIDTH} ${HEIGHT}] /Contents ${pageNumber(page) + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      stream(content),
    ]),
  ];
  return assemble(objects);
}

function stream(lines: readonly string[]): string {
  const text = [
    'BT',
    `/F1 ${SIZE} Tf ${LEADING} TL ${MARGIN} ${HEIGHT - MARGIN} Td`,
    ...lines.map((line) => `${literal(line)} Tj T*`),
    'ET',
  ].join('\n');
  return `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
}

/** A literal string object. Its text is Latin-1, so each character is one byte. */
function literal(text: string): string {
  return `(${text.replace(/[^\x20-\x7e\xa0-\xff]/gu, '?').replace(/[\\()]/g, '\\$&')})`;
}

/** Writes the file: header, objects, table of offsets, trailer. */
function assemble(objects: readonly string[]): Buffer {
  // The comment with four high bytes marks the file as binary.
  let file = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(file.length);
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  file += offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(file, 'latin1');
}
