import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KEY_BYTES, seal, sealed, unseal } from '../../../src/store/secrets/sealed.ts';

const key = randomBytes(KEY_BYTES);
const place = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 });
const text = fc.string({ unit: 'grapheme', maxLength: 3_000, size: 'max' });

describe('a sealed text', () => {
  it('a sealed text opens with its key at its place, byte for byte', () => {
    fc.assert(
      fc.property(text, place, (content, where) => {
        const stored = sealed.parse(JSON.parse(JSON.stringify(seal(key, where, content))));
        expect(unseal(key, where, stored)).toBe(content);
      }),
    );
  });

  it('a sealed text opens at no other place, and with no other key', () => {
    fc.assert(
      fc.property(text, place, place, (content, where, other) => {
        fc.pre(JSON.stringify(where) !== JSON.stringify(other));
        const stored = seal(key, where, content);
        expect(unseal(key, other, stored)).toBeUndefined();
        expect(unseal(randomBytes(KEY_BYTES), where, stored)).toBeUndefined();
      }),
    );
  });

  it('a sealed text does not open if one of its bits was changed', () => {
    const parts = fc.constantFrom('nonce', 'tag', 'data');
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), parts, fc.nat(), (content, part, where) => {
        const stored = seal(key, ['here'], content);
        const bytes = Buffer.from(stored[part], 'base64');
        const bit = where % (bytes.length * 8);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(unseal(key, ['here'], { ...stored, [part]: bytes.toString('base64') })).toBeUndefined();
      }),
    );
  });

  it('a sealed text is never the same twice, and contains nothing of the text', () => {
    const [one, two] = [seal(key, [], 'the secret'), seal(key, [], 'the secret')];
    expect(one.nonce).not.toBe(two.nonce);
    expect(one.data).not.toBe(two.data);
    expect(Buffer.from(one.data, 'base64').toString('latin1')).not.toContain('secret');
  });

  it('a sealed text with a shortened tag is damaged', () => {
    const stored = seal(key, [], 'text');
    const tag = Buffer.from(stored.tag, 'base64').subarray(0, 4).toString('base64');
    expect(sealed.safeParse({ ...stored, tag }).success).toBe(false);
  });
});
