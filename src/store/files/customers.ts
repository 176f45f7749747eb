import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import {
  cannotWrite,
  listFolder,
  makePrivateFolder,
  type Notice,
  readJsonFile,
  removeStored,
  setAsideIfDamaged,
  syncFolder,
} from '../disk/files.ts';
import { holderOf, withLock } from '../disk/lock.ts';
import { refuseUnsafeFolder } from '../disk/permissions.ts';
import {
  type CustomerVersion,
  changeRecord,
  isoDate,
  keptCustomer,
  lastingOf,
  moveRecord,
  type Update,
} from '../kept-customer.ts';
import type { StoreFolder } from '../machine/folder.ts';
import type { CustomerRecord } from '../ports/copy.ts';
import type { Customers, KeptCustomer, LastingConsent } from '../ports/customers.ts';
import { holderOfName, nameOfBank, nameOfHolder } from './file-names.ts';
import { KnownFolders } from './known-folders.ts';
import { countBanks, Generations } from './token-file.ts';

/** How long to wait for a worker that changes the same record: much more than the 5 s after which a dead one loses the lock. */
const PATIENCE_MS = 30_000;

const content = {
  changes: z.array(z.string()),
  /** Null after psd2 has forgotten the customer. */
  kept: z.nullable(keptCustomer),
};

/** Where the record of a customer is. */
interface Place {
  /** The name of the bank's folder. */
  bank: string;
  customer: string;
}

/**
 * What is kept of the customers of one profile: a folder for each bank, and in it one for each customer. As with tokens, each
 * generation of a record is a file ({@link Generations}), so that an older one never replaces a newer one.
 */
export class FileCustomers implements Customers {
  readonly #folder: string;
  /** The folders above, up to the store's. */
  readonly #parents: readonly string[];
  readonly #interrupted: AbortSignal | undefined;
  readonly #baseUrl: string | undefined;
  readonly #notice: Notice;
  readonly #assertHere: () => void;

  /**
   * @param bank the profile's current base URL; undefined for callers that change nothing
   * @param notice called if a damaged file was kept and replaced
   * @param assertHere refuses a change if the data of the profile is in another store
   */
  constructor(
    folder: StoreFolder,
    profile: string,
    bank?: URL,
    notice: Notice = () => {},
    assertHere: () => void = () => {},
  ) {
    const tokens = folder.tokens(profile);
    this.#folder = join(tokens, 'customers');
    this.#parents = [tokens, dirname(tokens), folder.root];
    this.#interrupted = folder.interrupted;
    this.#baseUrl = bank?.href;
    this.#notice = notice;
    this.#assertHere = assertHere;
  }

  async list(): Promise<string[]> {
    return this.#lookAtAll((customer, text) => {
      try {
        return text() === '' ? [] : [customer];
      } catch (error) {
        // Damaged records count too.
        if (error instanceof Psd2Error) return [customer];
        throw error;
      }
    });
  }

  async lasting(): Promise<LastingConsent[]> {
    return this.#lookAtAll((customer, text) => lastingIn(customer, text()));
  }

  /** Looks at each record, sorted by customer. Of one that has not changed since the last look, only its folder is looked at. */
  #lookAtAll<T>(look: (customer: string, text: () => string) => T[]): T[] {
    if (this.#baseUrl === undefined) return [];
    const bank = nameOfBank(this.#baseUrl);
    const customers = this.#customersOf(bank).sort();
    if (customers.length === 0) return [];
    const folders = new KnownFolders(this.#knownPath(bank));
    const results = customers.flatMap((customer) => {
      const place = { bank, customer };
      const read = () => {
        const { kept: record } = this.#newest(place);
        return record
          ? JSON.stringify(lastingOf(customer, record).map(({ flow, validUntil }) => [flow, validUntil]))
          : '';
      };
      return look(customer, () => folders.textOf(this.#folderOf(place), read));
    });
    folders.keep();
    return results;
  }

  async all(): Promise<{ customer: string; kept: KeptCustomer }[]> {
    if (this.#baseUrl === undefined) return [];
    const bank = nameOfBank(this.#baseUrl);
    return this.#customersOf(bank)
      .sort()
      .flatMap((customer) => {
        const { kept: record } = this.#newest({ bank, customer });
        return record ? [{ customer, kept: record }] : [];
      });
  }

  async read(customer: string): Promise<KeptCustomer | undefined> {
    if (this.#baseUrl === undefined) return undefined;
    return this.#newest({ bank: nameOfBank(this.#baseUrl), customer }).kept ?? undefined;
  }

  change(customer: string, update: (before: KeptCustomer) => KeptCustomer): Promise<void> {
    return this.#changeHere(customer, update);
  }

  async forget(customer: string): Promise<void> {
    const place = this.#placeOf(customer);
    await this.#exclusively(place, async () => {
      if (this.#hasRecord(place)) await this.#change(place, null);
    });
  }

  async otherBanks(): Promise<{ baseUrl: string; customers: number }[]> {
    const banks = this.#places().map((place) => this.#bankOf(place));
    return countBanks(banks, this.#baseUrl).map(({ baseUrl, count }) => ({ baseUrl, customers: count }));
  }

  async move(from: string): Promise<number> {
    const bank = nameOfBank(from);
    let moved = 0;
    for (const customer of this.#customersOf(bank)) {
      this.#interrupted?.throwIfAborted();
      const place = { bank, customer };
      const old = {
        read: async () => this.#newest(place).kept,
        change: (update: Update) => this.#change(place, update, from),
      };
      const here = { change: (update: Update) => this.#changeHere(customer, update) };
      if (this.#hasRecord(place) && (await this.#exclusively(place, () => moveRecord(old, here)))) moved += 1;
    }
    return moved;
  }

  async forgetAll(): Promise<void> {
    for (const place of this.#places())
      await this.#exclusively(place, async () => removeStored(this.#folderOf(place)));
    removeStored(this.#folder);
  }

  /** The records of one customer at any bank. @throws Psd2Error `config` if one is damaged */
  ofCustomer(customer: string): { baseUrl: string; kept: KeptCustomer }[] {
    return this.#places()
      .filter((place) => place.customer === customer)
      .flatMap((place) => {
        const { baseUrl, kept: record } = this.#newest(place);
        return record ? [{ baseUrl, kept: record }] : [];
      });
  }

  /** Removes the records of one customer at any bank, and all that says there were any. */
  async erase(customer: string): Promise<void> {
    for (const place of this.#places())
      if (place.customer === customer)
        await this.#exclusively(place, async () => {
          removeStored(this.#folderOf(place));
          for (const path of [this.#knownPath(place.bank), this.#olderPath(place.bank)]) removeStored(path);
        });
  }

  /** All records, at any bank, for `store copy`. @throws Psd2Error `config` if one is damaged */
  *records(): Generator<CustomerRecord> {
    for (const place of this.#places()) {
      const newest = this.#newest(place);
      if (newest.generation > 0) yield customerRecordOf(place.customer, newest);
    }
  }

  /** The record of a customer at a bank. Undefined if there never was one. @throws Psd2Error `config` if it is damaged */
  record(baseUrl: string, customer: string): CustomerRecord | undefined {
    const newest = this.#newest({ bank: nameOfBank(baseUrl), customer });
    return newest.generation > 0 ? customerRecordOf(customer, newest) : undefined;
  }

  /** Stores a copied record, unless this generation or a newer one exists. @throws Psd2Error `config` */
  keep({ baseUrl, customer, generation, kept: record }: CustomerRecord): void {
    const place = { bank: nameOfBank(baseUrl), customer };
    if (this.#newest(place).generation < generation)
      this.#add(place, { baseUrl, generation, changes: [], kept: record }, true);
  }

  /** The processes that change records now. */
  async atWork(): Promise<string[]> {
    const locked = listFolder(this.#folder).flatMap((bank) =>
      listFolder(join(this.#folder, bank))
        .filter((name) => name.endsWith('.lock'))
        .map((name) => join(this.#folder, bank, name.slice(0, -'.lock'.length))),
    );
    const workers = await Promise.all(locked.map(holderOf));
    return workers.filter((worker) => worker !== undefined);
  }

  async #changeHere(customer: string, update: Update): Promise<void> {
    const place = this.#placeOf(customer);
    await this.#exclusively(place, () => this.#change(place, update));
  }

  #placeOf(customer: string): Place {
    return { bank: nameOfBank(this.#bank()), customer };
  }

  #bank(): string {
    if (this.#baseUrl === undefined) throw new TypeError('What is kept of a customer needs the bank');
    return this.#baseUrl;
  }

  #exclusively<T>(place: Place, work: () => Promise<T>): Promise<T> {
    const here = () => {
      this.#assertHere();
      return work();
    };
    const what = `The record of customer ${place.customer}`;
    return withLock(this.#folderOf(place), what, here, PATIENCE_MS, this.#interrupted);
  }

  #change(place: Place, update: Update | null, baseUrl = this.#bank()): Promise<void> {
    const generations = this.#generations(place);
    const newest = async () => {
      const generation = generations.newest();
      setAsideIfDamaged(generations.pathOf(generation), fileIn(place.bank), this.#notice);
      const version = this.#newest(place);
      return version.generation < generation ? { ...NONE, generation } : version;
    };
    const add = async (version: CustomerVersion) => {
      this.#assertHere();
      return this.#add(place, { baseUrl, ...version }, version.generation === 1);
    };
    return changeRecord(`the record of customer ${place.customer}`, { newest, add }, update);
  }

  /** The newest version of a record. @throws Psd2Error `config` if it is damaged */
  #newest(place: Place): Found {
    const generations = this.#generations(place);
    refuseUnsafeFolder(this.#folderOf(place));
    for (;;) {
      const generation = generations.newest();
      if (generation === 0) return { ...NONE, baseUrl: '' };
      const file = readJsonFile(generations.pathOf(generation), fileIn(place.bank));
      // If the file is gone, a newer generation has replaced it in the meantime.
      if (file) return { generation, ...file };
    }
  }

  /** The base URL of a record. Undefined if there is none, or it is damaged. */
  #bankOf(place: Place): string | undefined {
    try {
      const { baseUrl, kept: record } = this.#newest(place);
      return record ? baseUrl : undefined;
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      return undefined;
    }
  }

  /** Whether there is a record, damaged or not. */
  #hasRecord(place: Place): boolean {
    try {
      return this.#newest(place).kept !== null;
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      return true;
    }
  }

  /** As {@link Generations.add}. @param mayBegin whether to create the customer's folder if it is missing */
  #add(place: Place, { generation, ...file }: Found, mayBegin: boolean): boolean {
    const folder = this.#folderOf(place);
    const generations = this.#generations(place);
    const isFirst = generations.newest() === 0;
    if (mayBegin) makePrivateFolder(folder);
    if (!generations.add(generation, JSON.stringify(file, null, '\t'))) return false;
    if (isFirst) this.#syncAbove(folder);
    return true;
  }

  /** Makes the customer's folder and those above it durable: they may all be new. */
  #syncAbove(folder: string): void {
    const bank = dirname(folder);
    try {
      for (const path of [bank, this.#folder, ...this.#parents]) syncFolder(path);
    } catch (cause) {
      throw cannotWrite(folder, cause);
    }
  }

  #knownPath(bank: string): string {
    return join(this.#folder, bank, 'lasting');
  }

  /** What an earlier version wrote there. It left out consents without a last day. */
  #olderPath(bank: string): string {
    return join(this.#folder, bank, 'known');
  }

  #places(): Place[] {
    return listFolder(this.#folder).flatMap((bank) =>
      this.#customersOf(bank).map((customer) => ({ bank, customer })),
    );
  }

  #customersOf(bank: string): string[] {
    return listFolder(join(this.#folder, bank)).flatMap((name) => holderOfName(name) ?? []);
  }

  #generations(place: Place): Generations {
    return new Generations(this.#folderOf(place));
  }

  #folderOf({ bank, customer }: Place): string {
    return join(this.#folder, bank, nameOfHolder(customer));
  }
}

/** A version as it was found, with its bank. */
type Found = CustomerVersion & { baseUrl: string };
const NONE = { generation: 0, changes: [], kept: null };

/** What {@link FileCustomers.lasting} knows of a record, from its text. */
function lastingIn(customer: string, text: string): LastingConsent[] {
  const pairs = z.array(z.tuple([z.string(), isoDate])).parse(JSON.parse(text || '[]'));
  return pairs.map(([flow, validUntil]) => ({ customer, flow, validUntil }));
}

/** The content of a file in the folder of a bank. */
function fileIn(bank: string) {
  return z.object({ ...content, baseUrl: z.string().check(z.refine((url) => nameOfBank(url) === bank)) });
}

function customerRecordOf(customer: string, { baseUrl, generation, kept: record }: Found): CustomerRecord {
  return { kind: 'customer', baseUrl, customer, generation, kept: record };
}
