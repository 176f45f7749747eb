const types = { pdf: 'application/pdf', xls: 'application/vnd.ms-excel' } as const;

/** Answers with a document. It has no envelope. */
export function sendDocument(type: keyof typeof types, name: string, bytes: Buffer): Response {
  return new Response(Uint8Array.from(bytes), {
    headers: {
      'Content-Type': types[type],
      'Content-Disposition': `attachment; filename="${name}.${type}"`,
    },
  });
}
