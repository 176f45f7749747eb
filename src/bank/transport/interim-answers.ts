const NOTHING = Buffer.alloc(0);
const [LINE_FEED, RETURN] = [0x0a, 0x0d];

/** The beginning of an interim answer. `d` is any digit. */
const INTERIM = 'HTTP/1.d 1dd';
/** The other end wants another protocol, which psd2 has not asked for. */
const SWITCHING = '101';

/**
 * Takes the interim answers (100, 102, 103) out of what a server sends before its answer: a client skips them, whether it has asked for
 * them or not (RFC 9110, section 15.2). undici refuses 100, and takes any of them for the answer of a proxy to CONNECT.
 */
export class InterimAnswers {
  readonly #ended: () => void;
  #isAwaited = false;
  /** The beginning of a head that may be one of an interim answer. */
  #held: Buffer = NOTHING;
  #isInHead = false;
  /** The length so far of the line in that head. */
  #line = 0;

  /** @param ended is told of each interim answer that has ended */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  /** An answer begins with the next byte. */
  await(): void {
    this.#isAwaited = true;
    this.#held = NOTHING;
    this.#isInHead = false;
  }

  /** What was received, without interim answers. */
  without(received: Buffer): Buffer {
    if (!this.#isAwaited) return received;
    let left = this.#held.length === 0 ? received : Buffer.concat([this.#held, received]);
    this.#held = NOTHING;
    for (;;) {
      if (this.#isInHead) {
        const end = this.#endOfHead(left);
        if (end === undefined) return NOTHING;
        left = left.subarray(end);
        this.#isInHead = false;
        this.#ended();
      }
      const begins = isInterim(left);
      if (begins === 'perhaps') {
        this.#held = left;
        return NOTHING;
      }
      if (begins === 'no') {
        this.#isAwaited = false;
        return left;
      }
      this.#isInHead = true;
      left = left.subarray(INTERIM.length + blanksBefore(left));
      this.#line = INTERIM.length;
    }
  }

  /** Where the head ends: after an empty line. Undefined: later. */
  #endOfHead(bytes: Buffer): number | undefined {
    for (let at = 0; at < bytes.length; at += 1) {
      const isEnd = bytes[at] === LINE_FEED;
      if (isEnd && this.#line === 0) return at + 1;
      if (isEnd) this.#line = 0;
      else if (bytes[at] !== RETURN) this.#line += 1;
    }
    return undefined;
  }
}

function isInterim(bytes: Buffer): 'yes' | 'no' | 'perhaps' {
  const blanks = blanksBefore(bytes);
  const begun = bytes.toString('latin1', blanks, blanks + INTERIM.length);
  const isLike = [...begun].every((sign, at) =>
    INTERIM[at] === 'd' ? /\d/.test(sign) : sign === INTERIM[at],
  );
  if (!isLike || begun.endsWith(` ${SWITCHING}`)) return 'no';
  return begun.length === INTERIM.length ? 'yes' : 'perhaps';
}

/** Parsers skip empty lines before an answer. */
function blanksBefore(bytes: Buffer): number {
  const first = bytes.findIndex((byte) => byte !== LINE_FEED && byte !== RETURN);
  return first === -1 ? bytes.length : first;
}
