// Loaded into a process of psd2: its clock is CLOCK_AHEAD_MS milliseconds ahead, or behind if that is negative.
const aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0);
const RightDate = Date;

globalThis.Date = class extends RightDate {
  constructor(...values) {
    if (values.length === 0) super(RightDate.now() + aheadMs);
    else super(...values);
  }

  static now() {
    return RightDate.now() + aheadMs;
  }
};
