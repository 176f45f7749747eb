import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  auditOf,
  checkChain,
  lineInstead,
  nextLine,
  parseAuditLine,
  sha256Of,
  withoutForgotten,
} from '../../src/store/audit/chain.ts';
import { withWords, wordsOf } from '../../src/store/audit/pseudonyms.ts';
import { FileAudit } from '../../src/store/files/audit.ts';
import type { AuditHead } from '../../src/store/ports/audit.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';
import { failing, once } from './waiting.ts';

const temporary = temporaryFolder();

const ACTOR = { operator: 'ada', user: 'ada', machine: 'pisp-1', version: '1.0.0' };

/** The lines of an audit log with this many entries, and its head. */
function chain(count: number): { texts: string[]; head: AuditHead | undefined } {
  const texts: string[] = [];
  let head: AuditHead | undefined;
  for (let n = 1; n <= count; n += 1) {
    const place = { profile: 'bank', at: new Date(n * 1000).toISOString() };
    const { text } = nextLine(head, { action: 'exported', about: `csv ${n}` }, ACTOR, place);
    texts.push(text);
    head = { n, sha256: sha256Of(text) };
  }
  return { texts, head };
}

async function* listed(texts: readonly string[]) {
  for (const [index, text] of texts.entries()) yield { n: index + 1, text };
}

async function breakOf(texts: readonly string[], head: AuditHead | undefined) {
  return (await checkChain(listed(texts), head)).broken;
}

const count = fc.integer({ min: 1, max: 12 });

describe('the chain of an audit log', () => {
  it('is whole as it was written, and if the last write was killed before the head', async () => {
    for (const n of [0, 1, 2, 12]) {
      const { texts, head } = chain(n);
      expect(await breakOf(texts, head)).toBeNull();
      expect(await breakOf(texts, chain(Math.max(0, n - 1)).head)).toBeNull();
    }
  });

  it('shows any line that was removed, also the last one', async () => {
    await fc.assert(
      fc.asyncProperty(count, fc.nat(), async (n, at) => {
        const { texts, head } = chain(n);
        expect(await breakOf(texts.toSpliced(at % n, 1), head)).not.toBeNull();
      }),
    );
  });

  it('shows any line that was changed, by one character', async () => {
    await fc.assert(
      fc.asyncProperty(count, fc.nat(), fc.nat(), async (n, at, character) => {
        const { texts, head } = chain(n);
        const text = texts[at % n] ?? '';
        const place = character % text.length;
        const other = `${text.slice(0, place)}${text[place] === '7' ? '8' : '7'}${text.slice(place + 1)}`;
        expect(await breakOf(texts.with(at % n, other), head)).not.toBeNull();
      }),
    );
  });

  it('shows lines that were exchanged, doubled or added', async () => {
    const { texts, head } = chain(5);
    const [first = '', second = ''] = texts;
    const exchanged = texts.with(0, second).with(1, first);
    expect(await breakOf(exchanged, head)).toEqual({ n: 1, why: 'line 1 was removed' });
    expect(await breakOf([first, ...texts], head)).toMatchObject({ n: 2 });
    const added = { n: 6, why: 'the record of the last line was removed or changed' };
    expect(await breakOf(chain(7).texts, head)).toEqual(added);
    expect(await breakOf(texts, undefined)).not.toBeNull();
    const removed = { n: 1, why: 'the line 5, the last one, was removed or changed' };
    expect(await breakOf([], head)).toEqual(removed);
  });

  it('shows which line it is, and why', async () => {
    const { texts, head } = chain(4);
    const [one = '', two = ''] = texts;
    const other = (text: string) => text.replace('"ada"', '"bob"');
    const whole = 'the record of the last line was removed or changed';
    for (const [changed, recorded, broken] of [
      [texts.with(0, other(one)), head, { n: 1, why: 'line 1 was changed' }],
      [texts.with(1, other(two)), head, { n: 2, why: 'line 2 was changed' }],
      [texts.with(1, 'damaged'), head, { n: 2, why: 'line 2 was changed' }],
      [texts.toSpliced(1, 1), head, { n: 2, why: 'line 2 was removed' }],
      [texts.slice(0, 3), head, { n: 4, why: 'the line 4, the last one, was removed or changed' }],
      [texts.slice(0, 2), head, { n: 3, why: 'the line 4, the last one, was removed or changed' }],
      [
        texts.with(3, other(texts[3] ?? '')),
        head,
        { n: 4, why: 'the line 4, the last one, was removed or changed' },
      ],
      [texts, chain(3).head, null],
      [texts, chain(2).head, { n: 3, why: whole }],
      [texts, undefined, { n: 1, why: whole }],
      [texts.slice(0, 1), undefined, null],
      [[], undefined, null],
      // The first of two faults is told.
      [texts.with(0, other(one)).slice(0, 3), head, { n: 1, why: 'line 1 was changed' }],
    ] as const)
      expect(await breakOf(changed, recorded)).toEqual(broken);
  });

  it('shows that all lines before the first one were removed, and a beginning that was kept', async () => {
    const { texts, head } = chain(3);
    const check = async (beginning?: string) => (await checkChain(listed(texts), head, beginning)).broken;
    expect(await check(sha256Of(texts[0] ?? ''))).toBeNull();
    expect(await check()).toBeNull();
    const replaced = { n: 1, why: 'all lines before the first one were removed' };
    expect(await check(sha256Of('another'))).toEqual(replaced);
    expect((await checkChain(listed([]), undefined, sha256Of('another'))).broken).toBeNull();
  });

  it('counts its lines, and names the flows that began, each once, and no others', async () => {
    const place = { profile: 'bank', at: '2026-11-21T10:00:00.000+01:00' };
    const texts: string[] = [];
    let head: AuditHead | undefined;
    for (const entry of [
      { action: 'began', flow: 'tr-1' },
      { action: 'confirmed', flow: 'tr-2' },
      { action: 'began', flow: 'tr-1' },
      { action: 'began' },
    ] as const) {
      const { n, text } = nextLine(head, entry, ACTOR, place);
      texts.push(text);
      head = { n, sha256: sha256Of(text) };
    }
    const empty = { lines: 0, head: null, broken: null, began: new Set() };
    expect(await checkChain(listed([]), undefined)).toEqual(empty);
    expect(await checkChain(listed(texts), head)).toEqual({
      ...{ lines: 4, head, broken: null, began: new Set(['tr-1']) },
    });
  });
});

describe('a line of the audit log', () => {
  const { texts } = chain(2);
  const [first = '', second = ''] = texts;
  const fields = parseAuditLine(first) ?? expect.unreachable();

  it('says who did what, when and where, and null of what is not known', () => {
    expect(fields).toEqual({
      ...{ n: 1, at: '1970-01-01T00:00:01.000Z', profile: 'bank', action: 'exported', role: null },
      ...{ operator: 'ada', user: 'ada', machine: 'pisp-1', version: '1.0.0' },
      ...{ customerId: null, flow: null, about: 'csv 1', previous: null },
    });
    expect(parseAuditLine(second)).toMatchObject({ n: 2, previous: sha256Of(first) });
  });

  it.each<[string, object, boolean]>([
    ['a time with a zone', { at: '2026-11-21T10:00:00+01:00' }, true],
    ['a field of a newer psd2', { newer: 1 }, true],
    ['an action that psd2 does not know', { action: 'x' }, false],
    ['a time that is none', { at: 'yesterday' }, false],
    ['a number below one', { n: 0 }, false],
    ['a part of a number', { n: 1.5 }, false],
    ['no operator', { operator: undefined }, false],
    ['a customer that is no text', { customerId: 7 }, false],
  ])('with %s', (_, change, isRead) => {
    expect(parseAuditLine(JSON.stringify({ ...fields, ...change })) !== undefined).toBe(isRead);
  });

  it('that is no JSON, or none at all, is damaged', () => {
    for (const text of ['', 'x', 'null', '[]', first.slice(0, -1)])
      expect(parseAuditLine(text)).toBeUndefined();
  });

  it('has its words back where psd2 still knows them, and the pseudonym elsewhere', () => {
    const words = wordsOf([
      { pseudonym: 'p1', customerId: '7', word: '7' },
      { pseudonym: 'p2', customerId: '7', word: 'ACC' },
    ]);
    const shown = (customerId: string | null, about: string | null) => {
      const line = withWords({ ...fields, customerId, about }, words);
      return [line.customerId, line.about];
    };
    expect(shown('p1', 'csv p2')).toEqual(['7', 'csv ACC']);
    expect(shown('p3', 'p3  p1')).toEqual(['p3', 'p3  7']);
    expect(shown(null, null)).toEqual([null, null]);
    expect(withWords(fields, new Map())).toEqual(fields);
  });

  it('of a forgotten customer does not name them or an account, and that of anybody else does', () => {
    const entry = { action: 'exported', customerId: '7', about: 'csv', account: 'ACC' } as const;
    const isForgotten = (profile: string, customer: string) => profile === 'bank' && customer === '7';
    const without = { action: 'exported', customerId: null, about: 'csv' };
    expect(withoutForgotten(entry, 'bank', isForgotten)).toEqual(without);
    expect(withoutForgotten(entry, 'other', isForgotten)).toEqual(entry);
    expect(withoutForgotten({ ...entry, customerId: '8' }, 'bank', isForgotten)).toMatchObject({
      account: 'ACC',
    });
    expect(withoutForgotten(entry, 'bank', undefined)).toEqual(entry);
    const { account: _, ...bare } = entry;
    expect(Object.keys(withoutForgotten(bare, 'other', isForgotten))).not.toContain('account');
    const nobody = { action: 'logged-out' } as const;
    expect(withoutForgotten(nobody, 'bank', () => true)).toEqual(nobody);
  });

  it('that is copied takes its place only if it continues what is there', () => {
    const [line, next] = [
      { n: 1, text: first },
      { n: 2, text: second },
    ];
    const head = { n: 1, sha256: sha256Of(first) };
    expect(lineInstead(line, undefined, undefined)).toBeUndefined();
    expect(lineInstead(next, undefined, head)).toBeUndefined();
    // Nothing stands in its place: the lines differ.
    expect(lineInstead(next, undefined, undefined)).toEqual({ n: 2, text: '' });
    expect(lineInstead(next, undefined, { n: 1, sha256: sha256Of('x') })).toEqual({ n: 2, text: '' });
    expect(lineInstead({ n: 2, text: 'damaged' }, undefined, head)).toEqual({ n: 2, text: '' });
    const own = { n: 1, text: 'own' };
    expect(lineInstead(line, own, head)).toBe(own);
  });

  it.each([
    ['created', undefined, { action: 'began', about: 'transfer' }],
    ['accepted', undefined, { action: 'confirmed', about: 'transfer' }],
    ['execute-sent', undefined, { action: 'executed', about: 'transfer' }],
    ['confirm-sent', undefined, { action: 'executed', about: 'transfer' }],
    ['cancelled', undefined, { action: 'cancelled', about: 'transfer' }],
    ['resolved', 'executed', { action: 'resolved', about: 'transfer executed' }],
    ['resolved', 7, { action: 'resolved', about: 'transfer' }],
    ['verified', undefined, undefined],
    ['executed', undefined, undefined],
    ['toString', undefined, undefined],
  ])('of the event %s with the outcome %s', (type, outcome, expected) => {
    const entry = auditOf('transfer', 'tr-1', '7', { type, outcome });
    expect(entry).toEqual(expected && { ...expected, customerId: '7', flow: 'tr-1' });
  });
});

describe('an audit log on disk', () => {
  const open = (more: object = {}) => {
    const path = newConfigFolder(temporary).audit('bank');
    const worker = {
      actor: ACTOR,
      now: () => new Date(0),
      assertHere: () => {},
      wasCopied: () => false,
      ...more,
    };
    const process = () => new FileAudit(path, { profile: 'bank', worker, interrupted: undefined });
    return { path, process, headPath: path.replace('.ndjson', '.head.json') };
  };
  const linesOf = async (audit: FileAudit) => {
    const texts: string[] = [];
    for await (const { n, text } of audit.lines()) {
      expect(n).toBe(texts.length + 1);
      texts.push(text);
    }
    return texts;
  };
  const out = { action: 'logged-out' } as const;
  const checked = async (audit: FileAudit) =>
    (await checkChain(audit.lines(), await audit.head(), await audit.beginning())).broken;

  it('that does not exist has nothing, and looking makes nothing', async () => {
    const { path, process } = open();
    expect([await linesOf(process()), await process().head(), await process().beginning()]).toEqual([
      ...[[], undefined, undefined],
    ]);
    expect(existsSync(dirname(path))).toBe(false);
  });

  it('goes on after a line that was cut short, after a kill before the head, and after lines that are gone', async () => {
    const { path, process, headPath } = open();
    await process().append(out);
    const head = readFileSync(headPath);
    await process().append(out);
    appendFileSync(path, '{"n":3,"at":"2026');
    writeFileSync(headPath, head, { mode: 0o600 });
    await process().append(out);
    expect((await linesOf(process())).map((text) => parseAuditLine(text)?.n)).toEqual([1, 2, 3]);
    expect(await checked(process())).toBeNull();
    // A line of any length is read, also in more than one byte a character.
    await process().append({ ...out, about: 'è😀'.repeat(2_000) });
    await process().append(out);
    expect(await checked(process())).toBeNull();
    writeFileSync(path, (await linesOf(process())).slice(0, 2).join('\n').concat('\n'), { mode: 0o600 });
    await process().append(out);
    expect((await linesOf(process())).map((text) => parseAuditLine(text)?.n)).toEqual([1, 2, 6]);
    expect(await checked(process())).toMatchObject({ n: 3 });
  });

  it('of which all is gone goes on with the next number, and shows it', async () => {
    const { path, process } = open();
    for (let n = 0; n < 2; n += 1) await process().append(out);
    for (const spoil of [
      () => rmSync(path),
      () => writeFileSync(path, ''),
      () => writeFileSync(path, 'cut'),
    ]) {
      const { n = 0 } = (await process().head()) ?? {};
      spoil();
      await process().append(out);
      expect((await linesOf(process())).map((text) => parseAuditLine(text)?.n)).toEqual([n + 1]);
      expect(await checked(process())).toMatchObject({ n: 1 });
    }
  });

  it('whose last line is damaged goes on from the head', async () => {
    const { path, process } = open();
    await process().append(out);
    appendFileSync(path, 'damaged\n');
    await process().append(out);
    expect((await linesOf(process())).map((text) => parseAuditLine(text)?.n)).toEqual([1, undefined, 2]);
  });

  it('keeps copied lines as they are, also one that is damaged, with its number', async () => {
    const { texts } = chain(2);
    const { process } = open();
    const copied = [...texts, 'damaged'];
    for (const [index, text] of copied.entries()) {
      await process().keep({ n: 99, text });
      expect(await process().head()).toEqual({ n: index + 1, sha256: sha256Of(text) });
    }
    expect(await linesOf(process())).toEqual(copied);
    expect(await process().beginning()).toBe(sha256Of(texts[0] ?? ''));
    const first = open();
    await first.process().keep({ n: 1, text: 'damaged' });
    expect(await first.process().head()).toMatchObject({ n: 1 });
  });

  it('may lack copied lines if its store was copied, and writes nothing if it was copied away', async () => {
    expect(await open().process().mayLackCopied()).toBe(false);
    expect(
      await open({ wasCopied: () => true })
        .process()
        .mayLackCopied(),
    ).toBe(true);
    const { path, process } = open({
      assertHere: () => {
        throw new RangeError('copied away');
      },
    });
    await expect(process().append(out)).rejects.toThrow('copied away');
    expect(existsSync(path)).toBe(false);
    const copy = new FileAudit(path, { profile: 'bank', interrupted: undefined });
    expect(await copy.mayLackCopied()).toBe(false);
    await expect(copy.append(out)).rejects.toThrow('A copy appends nothing of its own');
  });

  it('names the customer, an account and the rest by pseudonyms only where there is a customer', async () => {
    const { process } = open();
    const entries = [
      { ...out, about: 'by hand', account: 'ACC' },
      { ...out, customerId: '7' },
      { ...out, customerId: '7', account: 'ACC' },
      { ...out, customerId: '7', about: 'csv', account: 'ACC' },
    ];
    for (const entry of entries) await process().append(entry);
    const words = wordsOf(process().pseudonyms());
    const shown = (await linesOf(process())).map((text) => {
      const line = withWords(parseAuditLine(text) ?? fieldsOfNothing(), words);
      return [line.customerId, line.about];
    });
    expect(shown).toEqual([
      [null, 'by hand'],
      ['7', null],
      ['7', 'ACC'],
      ['7', 'csv ACC'],
    ]);
  });

  it('that cannot be written says what psd2 does then', async () => {
    const { path, process } = open();
    await process().append(out);
    once('fsyncSync', failing('ENOSPC'));
    await expect(process().append(out)).rejects.toMatchObject({
      ...{ code: 'config', message: expect.stringContaining(`The audit log ${path} cannot be written`) },
      hint: expect.stringContaining('psd2 does nothing that it cannot record first.'),
    });
  });
});

function fieldsOfNothing(): never {
  throw new TypeError('psd2 has written this line');
}

describe('in place of the audit log', () => {
  it.each<[string, (path: string) => unknown]>([
    ['a folder', (path) => mkdirSync(path, { recursive: true })],
    ['a named pipe', (path) => execFileSync('mkfifo', ['-m', '600', path])],
  ])('%s is refused before anything is written', async (what, make) => {
    const path = newConfigFolder(temporary).audit('bank');
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    make(path);
    const worker = {
      actor: ACTOR,
      now: () => new Date(0),
      assertHere: () => undefined,
      wasCopied: () => false,
    };
    const audit = new FileAudit(path, { profile: 'bank', worker, interrupted: undefined });
    const refusal = expect.objectContaining({
      code: 'config',
      message: `${path} is ${what}, not a file`,
      hint: `Restore it, or move it away: mv ${path} ${path}.damaged`,
    });
    await expect(audit.append({ action: 'logged-out' })).rejects.toThrow(refusal);
    await expect(audit.lines().next()).rejects.toThrow(refusal);
    expect(readdirSync(dirname(path))).toEqual(['bank.ndjson']);
  });
});
