/** An answer as it goes over the wire, once nothing in the API changes it any more. */
export interface OutgoingAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** Takes the bytes of an answer that a handler made. */
export async function readOutgoing(response: Response): Promise<OutgoingAnswer> {
  return {
    status: response.status,
    headers: new Headers(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

/** The answer for the server to send; a 204 has no body, not even an empty one. */
export function toResponse({ status, headers, body }: OutgoingAnswer): Response {
  return new Response(status === 204 ? null : Uint8Array.from(body), { status, headers });
}
