import type { HttpBindings } from '@hono/node-server';

/** An answer as it goes over the wire. */
export interface OutgoingAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** An answer in JSON. */
export function jsonAnswer(
  status: number,
  body: Readonly<Record<string, unknown>>,
  headers: Record<string, string> = {},
): OutgoingAnswer {
  return {
    status,
    headers: new Headers({ 'Content-Type': 'application/json', ...headers }),
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** Sends an answer. A 204 has no body and no length. */
export function send(
  outgoing: HttpBindings['outgoing'],
  method: string,
  { status, headers, body }: OutgoingAnswer,
): void {
  const isBare = status === 204 || method === 'HEAD';
  outgoing.writeHead(status, {
    ...Object.fromEntries(headers),
    ...(!isBare && { 'content-length': body.length }),
  });
  outgoing.end(isBare ? undefined : body);
}

const types = { pdf: 'application/pdf', xls: 'application/vnd.ms-excel' } as const;

/** An answer with a document. It has no envelope. */
export function documentAnswer(type: keyof typeof types, name: string, body: Buffer): OutgoingAnswer {
  const headers = new Headers({
    'Content-Type': types[type],
    'Content-Disposition': `attachment; filename="${name}.${type}"`,
  });
  return { status: 200, headers, body };
}
