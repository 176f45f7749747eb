import { join } from 'node:path';
import * as z from 'zod/mini';
import { isCustomerId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import {
  makePrivateFolder,
  type Notice,
  readJsonFile,
  removeHalfWritten,
  removeStored,
  setAsideIfDamaged,
  syncFolder,
  writeJsonFile,
} from '../disk/files.ts';
import { type HeldLock, holderOf, MAX_RENEWAL_MS, withLock } from '../disk/lock.ts';
import { refuseUnsafeFolder } from '../disk/permissions.ts';
import { reserveSpace } from '../disk/reserve-space.ts';
import type { StoreFolder } from '../machine/folder.ts';
import type { LoginRecord } from '../ports/copy.ts';
import type { Holder, ReadTokens, StoredLogin, StoredTokens, TokenSlot, Tokens } from '../ports/tokens.ts';
import { Vault } from '../secrets/vault.ts';
import { refuseMovedFolder } from './data.ts';
import { nameOfHolder } from './file-names.ts';
import { KnownFolders } from './known-folders.ts';
import {
  copied,
  countBanks,
  damagedIn,
  Generations,
  type GrantedTokens,
  holdersIn,
  isCustomers,
  LOGIN_SPACE,
  loginIn,
  type TokenFile,
  tokenGeneration,
  writeLogin,
} from './token-file.ts';
import { FileSeals } from './token-seals.ts';

const lastLogin = z.object({ customerId: z.string().check(z.refine(isCustomerId)) });

/**
 * The tokens of one profile at one bank. Each customer has a folder, so that no customer waits for another. Each generation
 * of tokens is a file ({@link Generations}), so that older tokens never replace newer ones. Tokens that another base URL
 * granted do not count, so psd2 never sends them to the wrong bank.
 */
export class FileTokens implements Tokens {
  readonly #folder: string;
  readonly #interrupted: AbortSignal | undefined;
  readonly #baseUrl: string | undefined;
  readonly #notice: Notice;
  readonly #seals: FileSeals;
  readonly #assertHere: () => void;

  /**
   * @param baseUrl the profile's current base URL; undefined for callers that write no tokens
   * @param notice called if a damaged file was kept and replaced
   * @param vault of the profile. The default cannot ask for a passphrase
   * @param assertHere refuses a change if the tokens are in another store
   */
  constructor(
    folder: StoreFolder,
    profile: string,
    baseUrl: URL | undefined,
    notice: Notice = () => {},
    vault: Vault = new Vault(folder, profile),
    assertHere: () => void = () => refuseMovedFolder(folder.root),
  ) {
    this.#assertHere = assertHere;
    this.#folder = folder.tokens(profile);
    this.#interrupted = folder.interrupted;
    this.#baseUrl = baseUrl?.href;
    this.#notice = notice;
    this.#seals = new FileSeals(vault);
  }

  async read(customerId: Holder): Promise<ReadTokens | undefined> {
    const usable = this.#usable(customerId);
    if (!usable) return undefined;
    const { generation, file } = usable;
    return { ...(await this.#open(customerId, generation, file)), generation };
  }

  /** Of a token file in a folder that has not changed since the last call, only its folder is looked at. */
  async logins(): ReturnType<Tokens['logins']> {
    const holders = holdersIn(this.#folder, /\.json$/).filter(isCustomers);
    if (holders.length === 0) return [];
    const folders = new KnownFolders(this.#knownLoginsPath);
    const logins = holders.sort().flatMap((customerId) => {
      const read = () => writeLogin(this.#readNewest(customerId).file);
      const login = loginIn(folders.textOf(this.#folderOf(customerId), read), this.#baseUrl);
      return login ? [{ customerId, login }] : [];
    });
    folders.keep();
    return logins;
  }

  async login(customerId: Holder): Promise<StoredLogin | undefined> {
    return this.#usable(customerId)?.file;
  }

  /** As {@link TokenSlot.replace}. */
  async #replace(
    customerId: Holder,
    spent: ReadTokens | undefined,
    tokens: StoredTokens,
  ): Promise<StoredTokens | undefined> {
    for (;;) {
      const { generation, file } = this.#readNewest(customerId);
      // Another process may have noted that the bank refused the spent token. The new tokens are valid all the same.
      const isSpent = file && (file.origin ?? generation) === (spent?.origin ?? spent?.generation);
      if (spent && !isSpent) return this.read(customerId);
      // If the spent tokens have been moved to another base URL, the new ones follow them.
      const baseUrl = spent && file ? file.baseUrl : this.#bank();
      const content = await this.#toFile(customerId, generation + 1, {
        ...tokens,
        origin: undefined,
        baseUrl,
      });
      if (this.#add(customerId, generation + 1, content, spent === undefined || generation === 0))
        return tokens;
    }
  }

  /** As {@link TokenSlot.refuse}. */
  async #refuse(customerId: Holder, { generation, ...tokens }: ReadTokens): Promise<void> {
    const ended = { ...tokens, refreshToken: null, refreshTokenExpiresAt: null };
    const content = await this.#toFile(customerId, generation + 1, {
      ...ended,
      origin: tokens.origin ?? generation,
      baseUrl: this.#bank(),
    });
    this.#add(customerId, generation + 1, content, generation === 0);
  }

  /** As {@link TokenSlot.prove}. */
  async #prove(customerId: Holder, { generation, unproven: _, ...tokens }: ReadTokens, isOwn: boolean) {
    const own = { ...tokens, origin: tokens.origin ?? generation, baseUrl: this.#bank() };
    const content = isOwn ? await this.#toFile(customerId, generation + 1, own) : 'null';
    this.#add(customerId, generation + 1, content, generation === 0);
  }

  /** Writes a generation without tokens, so that a renewal that was stopped before cannot store its tokens afterwards. */
  #remove(customerId: Holder): void {
    const generations = this.#generations(customerId);
    const isKept = () => {
      const { generation, file } = this.#newestOrDamaged(customerId);
      return generation > 0 ? file !== null : file !== undefined;
    };
    while (isKept()) this.#add(customerId, generations.newest() + 1, 'null', true);
  }

  change<T>(
    customerId: Holder,
    work: (slot: TokenSlot) => Promise<T>,
    signal: AbortSignal | undefined = this.#interrupted,
  ): Promise<T> {
    const prepared = (lock: HeldLock) =>
      this.#seals.within(this.#path(customerId), () => work(this.#slot(customerId, lock)));
    return this.#exclusively(customerId, prepared, signal);
  }

  forget(customerId: Holder, before: () => Promise<void> = async () => {}): Promise<void> {
    return this.#exclusively(customerId, async () => {
      await before();
      this.#remove(customerId);
    });
  }

  async forgetAll(): Promise<void> {
    for (const customerId of holdersIn(this.#folder, /\.json$/)) await this.erase(customerId);
    removeStored(this.#folder);
  }

  /** As {@link Tokens.erase}. A renewal that is under way ends first. */
  async erase(customerId: Holder): Promise<void> {
    if (!this.holders().includes(customerId)) return;
    const paths = [this.#path(customerId), this.#folderOf(customerId)];
    await this.#exclusively(customerId, async () => paths.forEach(removeStored));
    if (isCustomers(customerId)) removeStored(this.#knownLoginsPath);
  }

  async ready(): Promise<() => Promise<void>> {
    await this.#seals.ready();
    const giveBack = reserveSpace(this.#folder, LOGIN_SPACE);
    return async () => giveBack();
  }

  /** Waits for processes that still write with the earlier protection. */
  async rewrite(): Promise<void> {
    for (const customerId of this.holders())
      await this.change(customerId, () => this.#writeAgain(customerId, ({ baseUrl }) => baseUrl));
  }

  async move(from: string): Promise<number> {
    const isThere = (file: TokenFile | null | undefined | Psd2Error) =>
      file && !(file instanceof Psd2Error) && file.baseUrl === from;
    let moved = 0;
    for (const customerId of this.holders()) {
      this.#interrupted?.throwIfAborted();
      if (!isThere(this.#newestOrDamaged(customerId).file)) continue;
      const to = (file: TokenFile) => (isThere(file) ? this.#bank() : undefined);
      if (await this.change(customerId, () => this.#writeAgain(customerId, to))) moved += 1;
    }
    return moved;
  }

  /**
   * Writes the newest tokens again. If a renewal that was stopped stores newer ones in the meantime, these are written.
   *
   * @param bankOf their base URL from now on. Undefined: they stay as they are
   * @returns whether tokens were written
   */
  async #writeAgain(customerId: Holder, bankOf: (file: TokenFile) => string | undefined): Promise<boolean> {
    removeHalfWritten(this.#path(customerId));
    for (;;) {
      const { generation, file } = this.#readNewest(customerId);
      const baseUrl = file ? bankOf(file) : undefined;
      if (!file || baseUrl === undefined) return false;
      const tokens = await this.#open(customerId, generation, file);
      const origin = file.origin ?? generation;
      const content = await this.#toFile(customerId, generation + 1, { ...tokens, baseUrl, origin });
      if (this.#add(customerId, generation + 1, content, true)) return true;
    }
  }

  async customers(): Promise<string[]> {
    const customers = holdersIn(this.#folder, /\.json$/).filter(isCustomers);
    // Damaged tokens count too. Commands that need them report the damage.
    return customers.filter((customerId) => this.#newestOrDamaged(customerId).file).sort();
  }

  async otherBanks(): Promise<{ baseUrl: string; logins: number }[]> {
    const banks = this.holders().map((customerId) => {
      const { file } = this.#newestOrDamaged(customerId);
      return file instanceof Psd2Error ? undefined : file?.baseUrl;
    });
    return countBanks(banks, this.#baseUrl).map(({ baseUrl, count }) => ({ baseUrl, logins: count }));
  }

  async last(): Promise<string | undefined> {
    return readJsonFile(this.#lastLoginPath, lastLogin)?.customerId;
  }

  async remember(customerId: string): Promise<void> {
    await writeJsonFile(this.#lastLoginPath, { customerId }, lastLogin, this.#notice);
  }

  async damaged(): Promise<string[]> {
    return damagedIn(this.#folder);
  }

  /** The newest tokens of a holder, of any bank, for `store copy`. Undefined if there never were any. */
  async kept(customerId: Holder): Promise<LoginRecord | undefined> {
    const { generation, file } = this.#readNewest(customerId);
    if (file === undefined) return undefined;
    const login = { kind: 'login', holder: customerId ?? '', generation: Math.max(1, generation) } as const;
    if (file === null) return { ...login, origin: login.generation, baseUrl: '', tokens: null };
    const { baseUrl, origin = login.generation, ...tokens } = await this.#open(customerId, generation, file);
    return { ...login, origin, baseUrl, tokens: copied(tokens) };
  }

  /** Stores copied tokens, unless this generation or a newer one exists. @throws Psd2Error `config` */
  async keep({ holder, generation, origin, baseUrl, tokens }: LoginRecord): Promise<void> {
    const customerId = holder === '' ? null : holder;
    if (this.#readNewest(customerId).generation >= generation) return;
    const content = tokens
      ? await this.#toFile(customerId, generation, {
          ...tokens,
          origin: origin === generation ? undefined : origin,
          baseUrl,
        })
      : 'null';
    this.#add(customerId, generation, content, true);
  }

  /** The holders with tokens, and those with a lock only: that is a login that has not created its folder yet. */
  holders(): Holder[] {
    return holdersIn(this.#folder, /\.json(?:\.lock)?$/);
  }

  /** The processes that change tokens now. */
  async atWork(): Promise<string[]> {
    const workers = await Promise.all(this.holders().map((holder) => holderOf(this.#path(holder))));
    return workers.filter((worker) => worker !== undefined);
  }

  get #knownLoginsPath(): string {
    return join(this.#folder, 'known-logins');
  }

  get #lastLoginPath(): string {
    return join(this.#folder, 'last-login.json');
  }

  #bank(): string {
    if (this.#baseUrl === undefined) throw new TypeError('Tokens need the bank that granted them');
    return this.#baseUrl;
  }

  #exclusively<T>(
    customerId: Holder,
    work: (lock: HeldLock) => Promise<T>,
    signal: AbortSignal | undefined = this.#interrupted,
  ): Promise<T> {
    const what = customerId === null ? 'The login of the application' : `The login of customer ${customerId}`;
    const here = (lock: HeldLock) => {
      this.#assertHere();
      return work(lock);
    };
    return withLock(this.#path(customerId), what, here, MAX_RENEWAL_MS, signal);
  }

  #slot(customerId: Holder, lock: HeldLock): TokenSlot {
    return {
      takenOverFrom: lock.takenOverFrom,
      read: () => this.read(customerId),
      isOurs: async (read) => lock.isOurs() && this.#usable(customerId)?.generation === read?.generation,
      write: (tokens) => this.#write(customerId, { ...tokens, origin: undefined, baseUrl: this.#bank() }),
      replace: (spent, tokens) => this.#replace(customerId, spent, tokens),
      refuse: (tokens) => this.#refuse(customerId, tokens),
      prove: (tokens, isOwn) => this.#prove(customerId, tokens, isOwn),
    };
  }

  /** The generation that {@link read} gives: not after a logout, and not of another bank. */
  #usable(customerId: Holder): { generation: number; file: TokenFile } | undefined {
    const { generation, file } = this.#readNewest(customerId);
    return file && file.baseUrl === this.#baseUrl ? { generation, file } : undefined;
  }

  /** The highest generation and its content: null after a logout, undefined if there is none. */
  #readNewest(customerId: Holder): { generation: number; file: TokenFile | null | undefined } {
    const generations = this.#generations(customerId);
    refuseUnsafeFolder(this.#folderOf(customerId));
    for (;;) {
      const generation = generations.newest();
      if (generation === 0) return { generation, file: undefined };
      const file = readJsonFile(generations.pathOf(generation), tokenGeneration);
      // If the file is gone, a newer generation has replaced it in the meantime.
      if (file !== undefined) return { generation, file };
    }
  }

  /** As {@link #readNewest}, but returns the error if the file is damaged. */
  #newestOrDamaged(customerId: Holder): {
    generation: number;
    file: TokenFile | null | undefined | Psd2Error;
  } {
    try {
      return this.#readNewest(customerId);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      return { generation: this.#generations(customerId).newest(), file: error };
    }
  }

  #open(customerId: Holder, generation: number, stored: TokenFile): Promise<GrantedTokens> {
    const place = { holder: customerId, generation };
    return this.#seals.open(place, this.#pathOf(customerId, generation), stored);
  }

  async #write(customerId: Holder, tokens: GrantedTokens): Promise<void> {
    for (;;) {
      const generation = this.#generations(customerId).newest();
      const content = await this.#toFile(customerId, generation + 1, tokens);
      setAsideIfDamaged(this.#pathOf(customerId, generation), tokenGeneration, this.#notice);
      if (this.#add(customerId, generation + 1, content, true)) return;
    }
  }

  #toFile(customerId: Holder, generation: number, tokens: GrantedTokens): Promise<string> {
    const place = { holder: customerId, generation };
    return this.#seals.close(place, this.#path(customerId), tokens, () => this.#isSealed(customerId));
  }

  /** @param mayBegin whether to create the customer's folder if it is missing */
  #add(customerId: Holder, generation: number, content: string, mayBegin: boolean): boolean {
    const folder = this.#folderOf(customerId);
    if (mayBegin) makePrivateFolder(folder);
    if (!this.#generations(customerId).add(generation, content)) return false;
    if (generation === 1) syncFolder(this.#folder);
    return true;
  }

  #isSealed(customerId: Holder): boolean {
    try {
      const { file } = this.#readNewest(customerId);
      return file != null && 'sealed' in file;
    } catch {
      // A damaged file may be replaced.
      return false;
    }
  }

  #generations(customerId: Holder): Generations {
    return new Generations(this.#folderOf(customerId));
  }

  #pathOf(customerId: Holder, generation: number): string {
    return this.#generations(customerId).pathOf(generation);
  }

  #folderOf(customerId: Holder): string {
    return join(this.#folder, nameOfHolder(customerId));
  }

  /** The path that the lock is for. */
  #path(customerId: Holder): string {
    return `${this.#folderOf(customerId)}.json`;
  }
}
