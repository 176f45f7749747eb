/** A cell: text, or an exact decimal that becomes a number. */
export type Cell = string | { decimal: string };

/**
 * Makes a workbook with one sheet in SpreadsheetML 2003, an XML format that Excel and LibreOffice open as `.xls`.
 */
export function workbook(sheet: string, rows: readonly (readonly Cell[])[]): Buffer {
  const body = rows.map((row) => `   <Row>${row.map(cell).join('')}</Row>\n`).join('');
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
 <Worksheet ss:Name="${escaped(sheet)}">
  <Table>
${body}  </Table>
 </Worksheet>
</Workbook>
`,
  );
}

function cell(content: Cell): string {
  return typeof content === 'string'
    ? `<Cell><Data ss:Type="String">${escaped(content)}</Data></Cell>`
    : `<Cell><Data ss:Type="Number">${content.decimal}</Data></Cell>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
