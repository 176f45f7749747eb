import { drop, isObject, type JsonObject, objectsOf } from './json-object.ts';

/** A host that does not exist. A client that follows such a link would send its token to another host. */
export const ELSEWHERE = 'https://gateway.bank.invalid';

/** Gives an envelope the real bank's shape: blank links, links to other hosts, plain messages, missing parts. */
export function reshapeEnvelope(envelope: JsonObject): void {
  const { result, _links: links, _embedded: embedded } = envelope;
  if (isObject(result)) reshapeResult(result);
  if (isObject(links)) reshapeLinks(links);
  if (isObject(embedded)) reshapeEmbedded(embedded);
}

function reshapeResult(result: JsonObject): void {
  drop(result, 'flushMessages');
  const messages = objectsOf(result.messages).flatMap(reshapeMessage);
  if (messages.length > 0) result.messages = messages;
  else drop(result, 'messages');
}

/** A success message is a plain string. An error has no detail, and a plain string follows it. */
function reshapeMessage(message: JsonObject): unknown[] {
  if (message.type === 'SUCCESS') return [message.message];
  if (message.type !== 'ERROR') return [message];
  const { code, message: text, type } = message;
  return [{ code, message: text, type }, 'Operazione non riuscita'];
}

/** `self` is blank. The curies have another host, only a path, or no `{rel}`. */
function reshapeLinks(links: JsonObject): void {
  if (isObject(links.self)) links.self.href = ' ';
  for (const curie of objectsOf(links.curies)) {
    const path = pathOf(curie.href);
    if (curie.name === 'consent') curie.href = `${ELSEWHERE}/platform${path}`;
    else if (curie.name === 'transactions') curie.href = path;
    else curie.href = `${ELSEWHERE}${path.replace('{rel}', '')}`;
  }
}

/** Links to transaction documents are relative and not percent-encoded. All other links are on another host. */
function reshapeEmbedded(embedded: JsonObject): void {
  for (const [name, link] of Object.entries(embedded)) {
    if (!isObject(link)) continue;
    const path = pathOf(link.href);
    link.href = name.startsWith('transactions:')
      ? decodeURIComponent(path.slice(path.lastIndexOf('/', path.indexOf('?')) + 1))
      : `${ELSEWHERE}${path}`;
  }
}

function pathOf(href: unknown): string {
  return String(href).replace(/^https?:\/\/[^/]+/, '');
}
