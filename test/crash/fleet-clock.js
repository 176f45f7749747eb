// Loaded into a worker of the fleet: sets its clock wrong by FLEET_CLOCK_MS milliseconds.
const wrongBy = Number(process.env.FLEET_CLOCK_MS ?? 0);
const RightDate = Date;

globalThis.Date = class extends RightDate {
  constructor(...values) {
    if (values.length === 0) super(RightDate.now() + wrongBy);
    else super(...values);
  }

  static now() {
    return RightDate.now() + wrongBy;
  }
};
