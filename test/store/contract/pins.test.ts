import { expect, it } from 'vitest';
import { named } from '../../support/named.ts';
import { useBackends } from './backends.ts';

const BANK = new URL('https://bank.example/psd2');
const OTHER = new URL('https://other.example/psd2');

it.each(named(useBackends()))(
  'PINs of a person that the bank has not accepted are counted for all workers and profiles in %s',
  async (_name, { open }) => {
    const place = await open();
    const pins = async (profile = 'bank', bank = BANK) => (await place.worker()).open(profile, bank).pins();
    const [one, other] = [await pins(), await pins('production')];
    expect(await one.count('anna')).toBe(0);
    expect(await one.add('anna', 0)).toBe(true);
    // Another worker has counted one meanwhile.
    expect(await other.add('anna', 0)).toBe(false);
    expect(await other.count('anna')).toBe(1);
    const both = await Promise.all([one.add('anna', 1), other.add('anna', 1)]);
    expect(both.sort()).toEqual([false, true]);
    expect(await one.count('anna')).toBe(2);
    for (const psuId of ['bruno', undefined]) expect(await one.count(psuId)).toBe(0);
    expect(await (await pins('bank', OTHER)).count('anna')).toBe(0);
    expect(await one.add(undefined, 0)).toBe(true);
    expect(place.everything()).not.toContain('anna');
    await other.clear('anna');
    await other.clear('anna');
    expect([await one.count('anna'), await one.count(undefined)]).toEqual([0, 1]);
    expect(await one.add('anna', 0)).toBe(true);
  },
);
