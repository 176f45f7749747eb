import { expect, it } from 'vitest';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { FLOWS } from './scenarios.ts';

const bank = useCrashBank();
const at = (points: string[], pattern: RegExp) => points.findLastIndex((point) => pattern.test(point));

it.each(FLOWS)(
  'each request of a $name that changes something is announced on disk before it leaves, with its id',
  async (scenario) => {
    const place = bank.newPlace();
    if (scenario.prepare) await place.psd2(scenario.prepare);
    const { code, stderr, trace } = await place.watched(scenario.begin(place));
    expect(code, stderr).toBe(0);

    const requests = trace.flatMap(({ point, requestId }, index) =>
      /^before (?:POST|PUT) \/private\//.test(point ?? '') ? [{ index, requestId }] : [],
    );
    expect(requests.length).toBeGreaterThan(1);
    for (const { index, requestId } of requests) {
      const points = trace.slice(0, index).map(({ point }) => point ?? '');
      const announced = at(points, /^after \w+ flows\/sandbox\/<flow>\.ndjson [a-z-]+-sent #/);
      const synced = at(points, /^after f(?:data)?sync flows\/sandbox\/<flow>\.ndjson #/);
      expect(announced).toBeGreaterThan(at(points, /^before (?:GET|POST|PUT) /));
      expect(synced).toBeGreaterThan(announced);
      expect(place.journal()).toContain(`"requestId":"${requestId}"`);
    }
    // The file's own entry in its folder too.
    const before = trace.slice(0, requests[0]?.index).map(({ point }) => point ?? '');
    expect(at(before, /^after f(?:data)?sync flows\/sandbox #/)).toBeGreaterThan(-1);
    place.remove();
  },
  PATIENCE_MS,
);
