import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a request has this secret or token. It takes the same time whatever the request has. */
export function isSameSecret(received: string | undefined, expected: string): boolean {
  return timingSafeEqual(sha256(received ?? ''), sha256(expected));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
