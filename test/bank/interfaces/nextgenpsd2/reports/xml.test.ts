import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  readAnyXml,
  readPlainXml,
  type XmlHandler,
} from '../../../../../src/bank/interfaces/nextgenpsd2/reports/xml.ts';

const DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const PLAIN = `${DECLARED}<Document xmlns="urn:x" a:b="c"><A>1 &amp; 2</A>\n<p:B Ccy="EUR" />\t<C/>x<D_.-1></D_.-1>é &lt;&gt;</Document>\n`;

/** What a handler gets, with the pieces of a text in one. */
class Events implements XmlHandler {
  readonly all: string[] = [];
  #text = '';
  open({ name, attributes }: { name: string; attributes: Record<string, string> }): void {
    this.#next(`<${name} ${JSON.stringify(Object.entries(attributes))}>`);
  }
  text(piece: string): void {
    this.#text += piece;
  }
  close(): void {
    this.#next('</>');
  }
  #next(event: string): void {
    // What is outside of the document's elements is nobody's text.
    if (this.#text.trim() !== '') this.all.push(this.#text);
    this.#text = '';
    this.all.push(event);
  }
}
const fail = (what: string): never => {
  throw new Error(what);
};
const plain = (text: string) => readPlainXml(text, () => new Events())?.all ?? null;
const whole = (text: string) => readAnyXml(text, () => new Events(), fail).all;

const long = 'x'.repeat(65_537);

describe('the fast way of reading XML', () => {
  test.each([
    ['as most programs write it', PLAIN],
    ['without a declaration', '<a/>'],
    ['with each entity of XML', '<a>&amp;&lt;&gt;&quot;&apos;&amp;amp;</a>'],
    ['with a text of 65536 characters', `<a>${long.slice(1)}</a>`],
    [
      'with more different tags than psd2 keeps',
      `<a>${Array.from({ length: 1100 }, (_, at) => `<a${at}/>`).join('')}</a>`,
    ],
  ])('takes a document %s', (_, text) => {
    expect(plain(text)).toEqual(whole(text));
  });

  test.each([
    ['a CDATA section', '<a><![CDATA[b]]></a>'],
    ['an open CDATA section', '<a><![CDATA[b></a>'],
    ['a comment', '<a><!-- b --></a>'],
    ['a processing instruction', '<a><?b c?></a>'],
    ['a DOCTYPE', '<!DOCTYPE a><a/>'],
    ['another blank in its declaration', '<?xml version="1.0"\u00a0?><a/>'],
    ['XML 1.1', '<?xml version="1.1"?><a/>'],
    ['a carriage return', '<a>b\r\n</a>'],
    ['a character that XML forbids', '<a>\u0001</a>'],
    ['the end of a CDATA section in a text', '<a>]]></a>'],
    ['a numeric entity', '<a>&#228;</a>'],
    ['an unknown entity', '<a>&amp;&b;</a>'],
    ['an ampersand alone', '<a>b & c</a>'],
    ['an entity in an attribute', '<a b="&amp;"/>'],
    ['a tab in an attribute', '<a b="c\td"/>'],
    ['an angle bracket in an attribute', '<a b=">"/>'],
    ['two attributes of the same name', '<a b="c" b="c"/>'],
    ['an attribute without a value', '<a b/>'],
    ['attributes without a blank between them', '<a b="c"d="e"/>'],
    ['a tag without a name', '<a>< b/></a>'],
    ['another closing tag', '<a><b></a></b>'],
    ['an open element', '<a><b></b>'],
    ['an open tag', '<a><b'],
    ['a closing tag too many', '<a/></a>'],
    ['two roots', '<a/><b/>'],
    ['text before the root', 'b<a/>'],
    ['text after the root', '<a/>b'],
    ['a no-break space after the root', '<a/>\u00a0'],
    ['no element', DECLARED],
    ['nothing', ''],
    ['half a character', '<a>\ud83d</a>'],
    ['a long text', `<a>${long}</a>`],
    ['a long tag', `<a b="${long}"/>`],
  ])('leaves a document with %s to the other parser', (_, text) => {
    expect(plain(text)).toBeNull();
  });

  test('leaves a document that its handler refuses to the other parser', () => {
    const refusing = (refuse: (what: string) => never) =>
      Object.assign(new Events(), { open: () => refuse('') });
    expect(readPlainXml('<a/>', refusing)).toBeNull();
  });

  test('does not swallow the error of a handler', () => {
    const wrong = () => Object.assign(new Events(), { open: () => fail('wrong') });
    expect(() => readPlainXml('<a/>', wrong)).toThrow('wrong');
  });

  test('gives what the other parser gives, and takes nothing that it refuses', () => {
    const part = fc.constantFrom(
      ...[
        '<',
        '>',
        '/',
        '</',
        '/>',
        '"',
        "'",
        '=',
        ' ',
        '\n',
        '\r',
        '&',
        ';',
        '&amp;',
        ']]>',
        '<!',
        '<!--',
        '-->',
        '<?',
        '?>',
      ],
      ...[
        'x',
        '1',
        ':',
        '-',
        'é',
        '\ufeff',
        '\u0085',
        '<C/>',
        '<C>',
        '</C>',
        ' a:b="c"',
        '<?xml version="1.0"?>',
      ],
    );
    const change = fc.record({ at: fc.nat({ max: PLAIN.length }), removed: fc.nat({ max: 3 }), part });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), (changes) => {
        const text = changes.reduce(
          (all, { at, removed, part }) => `${all.slice(0, at)}${part}${all.slice(at + removed)}`,
          PLAIN,
        );
        const events = plain(text);
        if (events !== null) expect(events).toEqual(whole(text));
      }),
      { numRuns: 3000 },
    );
  });
});
