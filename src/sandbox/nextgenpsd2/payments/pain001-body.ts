import { SaxesParser } from 'saxes';
import type { IsoDate } from '../../ledger/bank-time.ts';
import { header } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { DoorRefusal } from '../refusal.ts';
import { parse } from '../strict/body.ts';

/** The elements of a payment in pain.001 that the sandbox reads, and the fields of the standard's JSON for them. */
interface Entry {
  [field: string]: unknown;
}

/**
 * Reads payments in pain.001, with one group of them (ISO 20022, CustomerCreditTransferInitiation), into the standard's body
 * in JSON: the rules of the bank are the same for both.
 *
 * @param format the version that the bank takes: `pain.001.001.09`
 * @param today in XML the day is always there. This one means at once
 * @throws DoorRefusal `FORMAT_ERROR`
 */
export function readPain001(
  { body }: RawRequest,
  format: string,
  today: IsoDate,
): Record<string, unknown> & { payments: Entry[] } {
  return readXml(body.toString('utf8'), format, today);
}

function readXml(text: string, format: string, today: IsoDate): ReturnType<typeof readPain001> {
  const read = new Reader(format);
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', ({ message }) => {
    throw wrong('The body is not XML', message);
  });
  parser.on('doctype', () => {
    throw wrong('The body has a DOCTYPE', '');
  });
  parser.on('opentag', ({ local, uri, attributes }) => read.open(local, uri, attributes.Ccy?.value));
  parser.on('text', (piece) => read.text(piece));
  parser.on('closetag', () => read.close());
  parser.write(text).close();
  return read.end(today);
}

/**
 * Reads a payment in pain.001 that is sent alone into the standard's body in JSON. A standing order has two parts: `xml_sct` and
 * `json_standingorderType`.
 *
 * @throws DoorRefusal `FORMAT_ERROR`
 */
export function readSinglePain001(
  request: RawRequest,
  form: 'xml' | 'multipart',
  format: string,
  today: IsoDate,
): Record<string, unknown> {
  const parts = form === 'xml' ? undefined : partsOf(request);
  const xml = parts ? (parts.get('xml_sct') ?? '') : request.body.toString('utf8');
  const {
    payments,
    batchBookingPreferred: _,
    requestedExecutionDate,
    ...common
  } = readXml(xml, format, today);
  const [payment, ...others] = payments;
  if (others.length > 0) throw wrong('The bank takes one CdtTrfTxInf', `Received: ${payments.length}.`);
  const rule = parts && parse(Buffer.from(parts.get('json_standingorderType') ?? ''));
  return { ...common, ...payment, ...(rule ?? (requestedExecutionDate ? { requestedExecutionDate } : {})) };
}

/** The parts of a form by their names (RFC 7578). */
function partsOf(request: RawRequest): Map<string, string> {
  const [, boundary] = /boundary="?([^";]+)"?/i.exec(header(request, 'content-type') ?? '') ?? [];
  const [before, ...parts] = request.body.toString('utf8').split(`--${boundary}`);
  if (boundary === undefined || before !== '' || !parts.pop()?.startsWith('--'))
    throw wrong('The body does not have the parts of multipart/form-data', `boundary: ${boundary}`);
  return new Map(
    parts.map((part) => {
      const [, head = '', content = ''] = /^\r\n(.*?)\r\n\r\n(.*)\r\n$/s.exec(part) ?? [];
      return [/ name="([^"]*)"/.exec(head)?.[1] ?? '', content];
    }),
  );
}

/** The ids of the file and of its group, which the bank's report names. */
export function fileIdsIn({ body }: RawRequest): { message: string; information: string } {
  const text = body.toString('utf8');
  const idIn = (element: string) => new RegExp(`<(?:\\w+:)?${element}>([^<]*)`).exec(text)?.[1] ?? '';
  return { message: idIn('MsgId'), information: idIn('PmtInfId') };
}

class Reader {
  readonly #namespace: string;
  readonly #format: string;
  readonly #path: string[] = [];
  readonly #header = new Map<string, string>();
  readonly #group = new Map<string, string>();
  readonly #payments: Map<string, string>[] = [];
  #words = '';
  #groups = 0;

  constructor(format: string) {
    this.#format = format;
    this.#namespace = `urn:iso:std:iso:20022:tech:xsd:${format}`;
  }

  open(name: string, uri: string, currency: string | undefined): void {
    if (this.#path.length === 0 && (name !== 'Document' || uri !== this.#namespace))
      throw wrong(`The body is not ${this.#format}`, `Received: ${name} of ${uri}.`);
    this.#path.push(name);
    this.#words = '';
    if (name === 'PmtInf') this.#groups += 1;
    if (name === 'CdtTrfTxInf') this.#payments.push(new Map());
    if (currency !== undefined) this.#payments.at(-1)?.set('currency', currency);
  }

  text(piece: string): void {
    this.#words += piece;
  }

  close(): void {
    const [, , part, ...path] = this.#path;
    const isOfPayment = path[0] === 'CdtTrfTxInf';
    const target = isOfPayment ? this.#payments.at(-1) : part === 'GrpHdr' ? this.#header : this.#group;
    target?.set((isOfPayment ? path.slice(1) : path).join('/'), this.#words.trim());
    this.#path.pop();
    this.#words = '';
  }

  end(today: IsoDate): Record<string, unknown> & { payments: Entry[] } {
    if (this.#groups !== 1) throw wrong('The bank takes one PmtInf', `Received: ${this.#groups}.`);
    const group = this.#group;
    // The file has one group, so both have the same count.
    for (const count of [this.#header.get('NbOfTxs'), group.get('NbOfTxs')])
      if (count !== undefined && Number(count) !== this.#payments.length)
        throw wrong('NbOfTxs is wrong', `Expected: ${this.#payments.length}. Received: ${count}.`);
    const day = group.get('ReqdExctnDt/Dt') ?? group.get('ReqdExctnDt');
    return {
      debtorAccount: accountIn(group, 'DbtrAcct'),
      ...bookingIn(group.get('BtchBookg')),
      ...(day && day !== today && { requestedExecutionDate: day }),
      payments: this.#payments.map(entryOf),
    };
  }
}

/** Whether the group is booked as a whole. A boolean of XML Schema may be a digit. */
function bookingIn(text: string | undefined): { batchBookingPreferred?: boolean } {
  if (text === undefined) return {};
  if (!['true', 'false', '1', '0'].includes(text))
    throw wrong('BtchBookg is no boolean', `Received: ${text}.`);
  return { batchBookingPreferred: text === 'true' || text === '1' };
}

function accountIn(texts: ReadonlyMap<string, string>, name: string): { iban: string; currency?: string } {
  const currency = texts.get(`${name}/Ccy`);
  return { iban: texts.get(`${name}/Id/IBAN`) ?? '', ...(currency !== undefined && { currency }) };
}

function entryOf(payment: Map<string, string>): Entry {
  const description = payment.get('RmtInf/Ustrd');
  const country = payment.get('Cdtr/PstlAdr/Ctry');
  const address = {
    streetName: payment.get('Cdtr/PstlAdr/StrtNm'),
    buildingNumber: payment.get('Cdtr/PstlAdr/BldgNb'),
    postCode: payment.get('Cdtr/PstlAdr/PstCd'),
    townName: payment.get('Cdtr/PstlAdr/TwnNm'),
  };
  return {
    endToEndIdentification: payment.get('PmtId/EndToEndId'),
    instructedAmount: { currency: payment.get('currency') ?? '', amount: payment.get('Amt/InstdAmt') ?? '' },
    creditorAccount: accountIn(payment, 'CdtrAcct'),
    creditorName: payment.get('Cdtr/Nm') ?? '',
    ...(description !== undefined && { remittanceInformationUnstructured: description }),
    ...(country !== undefined && {
      creditorAddress: {
        ...Object.fromEntries(Object.entries(address).filter(([, value]) => value !== undefined)),
        country,
      },
    }),
  };
}

function wrong(message: string, detail: string): DoorRefusal {
  return new DoorRefusal('FORMAT_ERROR', message, detail);
}
