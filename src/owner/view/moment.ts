/** RFC 3339 date-times, read without a clock or a calendar of the host: `Date.parse` takes a lot more, and differs. */
import { milliseconds } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';

const FORM = /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d{1,12}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** Unix time; digits beyond the millisecond are dropped. Undefined for anything else. */
export function momentOf(text: string): Milliseconds | undefined {
  const found = FORM.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = found;
  const offsetMin = (sign === '-' ? -1 : 1) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const minutes = (daysSince1970(Number(year), Number(month), Number(day)) * 24 + Number(hour)) * 60 + Number(minute) - offsetMin;
  return milliseconds(minutes * 60_000 + Number(second) * 1_000 + Number(fraction.padEnd(3, '0').slice(0, 3)));
}

/** Counted in years that begin in March, so that the leap day is the last. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return y * 365 + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + dayOfYear - 719_468;
}
