// Loaded into a psd2 process: its clock is ahead by the milliseconds in the file CLOCK_AHEAD, also after a change of the file.
import { readFileSync } from 'node:fs';

const RightDate = Date;
const { CLOCK_AHEAD } = process.env;
const now = () => RightDate.now() + Number(readFileSync(CLOCK_AHEAD, 'utf8'));

globalThis.Date = class extends RightDate {
  constructor(...values) {
    if (values.length === 0) super(now());
    else super(...values);
  }

  static now() {
    return now();
  }
};
