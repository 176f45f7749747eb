/**
 * Writes a time as local time. `2026-11-21T10:05:00.120Z` becomes `2026-11-21 11:05` in a zone one hour ahead of UTC, to
 * the second `2026-11-21 11:05:00`, to the millisecond `2026-11-21 11:05:00.120`. Any other text stays unchanged.
 */
export function writeLocalTime(time: string, to: 'minute' | 'second' | 'millisecond' = 'minute'): string {
  if (!/^\d{4}-\d\d-\d\dT/.test(time) || Number.isNaN(Date.parse(time))) return time;
  const local = new Date(time);
  const pad = (value: number) => String(value).padStart(2, '0');
  const day = [local.getFullYear(), pad(local.getMonth() + 1), pad(local.getDate())].join('-');
  const minute = `${day} ${pad(local.getHours())}:${pad(local.getMinutes())}`;
  if (to === 'minute') return minute;
  const second = `${minute}:${pad(local.getSeconds())}`;
  return to === 'second' ? second : `${second}.${String(local.getMilliseconds()).padStart(3, '0')}`;
}
