// Loaded into a process of psd2 or of the tests: its clock is CLOCK_AHEAD_MS milliseconds ahead, or behind if that is negative.
// Files have the times of this clock, servers send it, and certificates are valid by it: the file system, Node's http and OpenSSL know
// the real one alone.
const fs = require('node:fs');
const { ServerResponse } = require('node:http');
const { syncBuiltinESMExports } = require('node:module');
const { TLSSocket } = require('node:tls');

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

const TIMES = ['atime', 'mtime', 'ctime', 'birthtime'];

function shifted(stats) {
  for (const time of stats === undefined ? [] : TIMES) {
    const isExact = typeof stats[`${time}Ms`] === 'bigint';
    stats[`${time}Ms`] += isExact ? BigInt(aheadMs) : aheadMs;
    if (isExact) stats[`${time}Ns`] += BigInt(aheadMs) * 1_000_000n;
    stats[time] = new RightDate(Number(stats[`${time}Ms`]));
  }
  return stats;
}

/** A time for a file, as `utimes` takes it: a date or seconds. Node.js takes seconds below 0 for now, but not a date before 1970. */
const unshifted = (time) =>
  new RightDate((time instanceof RightDate ? time.getTime() : Number(time) * 1000) - aheadMs);

for (const name of ['statSync', 'lstatSync', 'fstatSync']) {
  const read = fs[name];
  fs[name] = (...given) => shifted(read(...given));
}
for (const name of ['stat', 'lstat']) {
  const read = fs.promises[name];
  fs.promises[name] = async (...given) => shifted(await read(...given));
}
for (const name of ['utimesSync', 'futimesSync']) {
  const write = fs[name];
  fs[name] = (file, ...times) => write(file, ...times.map(unshifted));
}
syncBuiltinESMExports();

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (...given) {
  if (this.sendDate && !this.hasHeader('date')) this.setHeader('date', new Date().toUTCString());
  return writeHead.apply(this, given);
};

const OF_DATES = ['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'];
const { _init: init } = TLSSocket.prototype;

TLSSocket.prototype._init = function (...given) {
  init.apply(this, given);
  const handle = this._handle;
  if (handle === null || handle === undefined) return;
  const { verifyError } = Object.getPrototypeOf(handle);
  handle.verifyError = () => {
    const error = verifyError.call(handle);
    if (error && !OF_DATES.includes(error.code)) return error;
    return errorOfDates(this.getPeerCertificate()) ?? null;
  };
};

/** What OpenSSL would say of a certificate's dates, had it this clock. */
function errorOfDates(certificate) {
  if (certificate?.valid_from === undefined) return undefined;
  const now = Date.now();
  const [begins, ends] = [certificate.valid_from, certificate.valid_to].map((day) => RightDate.parse(day));
  if (begins <= now && now <= ends) return undefined;
  const code = now < begins ? 'CERT_NOT_YET_VALID' : 'CERT_HAS_EXPIRED';
  const words = now < begins ? 'certificate is not yet valid' : 'certificate has expired';
  return Object.assign(new Error(words), { code });
}
