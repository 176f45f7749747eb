/** The media type of a `Content-Type`, without its parameters (RFC 9110, section 8.3.1). */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/**
 * Chooses a format by `Accept` (RFC 9110, section 12.5.1): of each offered type the most specific range counts.
 *
 * @param offered what the bank can answer with, the usual one first
 * @param accept undefined: the client takes anything
 * @returns undefined if the client takes none of them
 */
export function bestOf(offered: readonly string[], accept: string | undefined): string | undefined {
  const ranges = (accept ?? '*/*').split(',').map((range) => {
    const [, quality = '1'] = /;\s*q\s*=\s*([\d.]+)/i.exec(range) ?? [];
    return { type: mediaTypeOf(range), quality: Number(quality) };
  });
  const qualityOf = (type: string): number => {
    const wanted = [type, type.replace(/\/.*/, '/*'), '*/*'];
    const fitting = wanted.map((one) => ranges.find((range) => range.type === one)).find(Boolean);
    return fitting?.quality ?? 0;
  };
  const [best] = offered
    .map((one) => ({ one, quality: qualityOf(mediaTypeOf(one)) }))
    .sort((first, second) => second.quality - first.quality);
  return best && best.quality > 0 ? best.one : undefined;
}
