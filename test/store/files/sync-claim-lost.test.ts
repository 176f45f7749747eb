import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { line, MORE, SOME, useClaimFolder } from '../claim-folder.ts';
import { failing, once } from '../waiting.ts';

const { folder, take, fileOf, claims, linesOf, theyWork } = useClaimFolder();

describe('a run that was overtaken', () => {
  const overtaken = () => ({
    code: 'overtaken',
    message: `Another psd2 sync has taken over the folder ${folder()}`,
    hint: 'This sync did not respond for some seconds, and has stopped. The other one continues.',
  });
  const caught = (work: () => void): unknown => {
    try {
      work();
      return undefined;
    } catch (error) {
      return error;
    }
  };

  it.each<[string, () => void]>([
    ['while both files are there', () => theyWork(2)],
    ['after its own file is gone', () => rmSync(fileOf(1))],
  ])('a run that was overtaken gets an error %s', async (_, takeOver) => {
    const claim = await take();
    takeOver();
    expect(claim.isLost).toBe(false);
    expect(caught(() => claim.assertHeld())).toMatchObject(overtaken());
    expect(claim.isLost).toBe(true);
  });

  it('a run that was overtaken does not write its progress, and does not make its file again', async () => {
    const claim = await take();
    theyWork(2);
    rmSync(fileOf(1));
    expect(caught(() => claim.write(MORE, true))).toMatchObject(overtaken());
    expect(claims()).toEqual(['sync-2.ndjson']);
    expect(linesOf(2)).toHaveLength(1);
  });

  it('what a run writes after another took the next number does not count', async () => {
    const claim = await take();
    claim.write(SOME, false);
    const theirs = await take('them');
    // The first run has the file still open.
    writeFileSync(fileOf(1), line(1, MORE, { ended: true }));
    theirs.assertHeld();
    theirs.write(SOME, true);
    expect(await take('next')).toMatchObject({ number: 3, found: SOME, left: 'ended' });
  });
});

describe('a folder that cannot be used', () => {
  it.each(['a letter\n', 'a letter', '\n', '{"claims":1}\n', 'x\0'].map((text) => [text]))(
    'progress that psd2 did not write is refused: %j',
    async (text) => {
      writeFileSync(fileOf(1), text);
      await expect(take()).rejects.toMatchObject({
        code: 'config',
        message: `${fileOf(1)} is damaged: it is not the progress that psd2 sync wrote`,
        hint: `Restore it, or move it away. The next sync then reads everything again, and adds what is missing: mv ${fileOf(1)} ${fileOf(1)}.damaged`,
      });
      expect(readFileSync(fileOf(1), 'utf8')).toBe(text);
    },
  );

  it.each([
    ['a day that does not exist', '2026-11-03', '2026-11-31'],
    ['a number for a day', '"2026-11-03"', '20261103'],
    ['a list of days for a day', '"2026-11-03"', '["2026-11-03"]'],
    ['less than no bytes', '"settled":0', '"settled":-1'],
    ['another size', '"settled":0', '"settled":0,"size":"1"'],
    ['no run', '"run":"them",', ''],
  ])('a line with %s counts as half written, and the line before it counts', async (_, text, damaged) => {
    writeFileSync(fileOf(1), line(1, MORE) + line(1, SOME).replace(text, damaged));
    expect(await take()).toMatchObject({ number: 2, found: MORE, left: 'begun' });
  });

  it('a claim that is a folder cannot be read', async () => {
    mkdirSync(fileOf(1));
    await expect(take()).rejects.toMatchObject({
      code: 'config',
      message: `${fileOf(1)} cannot be read: a folder has that name`,
      hint: 'Check who owns it.',
    });
  });

  it('a folder that cannot be listed is named', async () => {
    rmSync(folder(), { recursive: true });
    writeFileSync(folder(), '');
    await expect(take()).rejects.toMatchObject({
      code: 'config',
      message: `The folder ${folder()} cannot be read: a part of the path is not a folder`,
      hint: 'Check who owns it and its mode.',
    });
  });

  const full = (number: number) => ({
    code: 'config',
    message: `${fileOf(number)} cannot be written: the disk is full`,
    hint: 'Check the free space, and who owns the folder. What is in the files stays. The next sync continues.',
  });

  it('on a full disk, no claim is taken', async () => {
    once('openSync', failing('ENOSPC'));
    await expect(take()).rejects.toMatchObject(full(1));
    expect(claims()).toEqual([]);
  });

  it.each(['writeFileSync', 'fdatasyncSync'] as const)(
    'if the new progress cannot be stored (%s), the old progress stays',
    async (step) => {
      theyWork();
      once(step, failing('ENOSPC'));
      await expect(take()).rejects.toMatchObject(full(2));
      expect(linesOf(1)).toEqual([{ claim: 1, run: 'them', ended: false, products: SOME }]);
    },
  );

  it('progress that cannot be written is an error, and the run still has its claim', async () => {
    const claim = await take();
    once('writeFileSync', failing('ENOSPC'));
    expect(() => claim.write(SOME, false)).toThrow(expect.objectContaining(full(1)));
    expect(claim.isLost).toBe(false);
    claim.write(SOME, true);
    expect(await take()).toMatchObject({ number: 2, found: SOME, left: 'ended' });
  });
});
