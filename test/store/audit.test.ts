import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkChain, nextLine, sha256Of } from '../../src/store/audit/chain.ts';
import { FileAudit } from '../../src/store/files/audit.ts';
import type { AuditHead } from '../../src/store/ports/audit.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

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
});

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
