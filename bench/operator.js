// An operator for the benches: a separate configuration folder, a sandbox, and a logged-in customer.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('../bin/psd2.js', import.meta.url));

/**
 * @param rules options of `psd2 sandbox start`
 * @param core the only core that the sandbox runs on
 */
export function openOperator(rules = [], core) {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-bench-'));
  const env = {
    ...process.env,
    // As on a user's machine, psd2 keeps its compiled code in the home folder. A small script has no such place.
    HOME: join(folder, 'home'),
    PSD2_CONFIG_DIR: folder,
    PSD2_PROFILE: 'sandbox',
    PSD2_REDIRECT_URI: 'http://127.0.0.1:18910/callback',
    // The sandbox is the one of this folder, also if another one is the configuration folder.
    PSD2_BROWSER: `env "PSD2_CONFIG_DIR=${folder}" "${process.execPath}" "${PROGRAM}" sandbox customer`,
  };
  mkdirSync(env.HOME);
  const run = (...words) =>
    execFileSync(process.execPath, [PROGRAM, ...words], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
  const start = [
    process.execPath,
    PROGRAM,
    'sandbox',
    'start',
    '--detach',
    '--port',
    '0',
    '--strict',
    ...rules,
  ];
  const [program, ...words] = core === undefined ? start : ['taskset', '-c', core, ...start];
  execFileSync(program, words, { env, stdio: 'ignore' });
  return {
    env,
    folder,
    run,
    json: (...words) => JSON.parse(run(...words, '--json')),
    start: (added, ...words) => spawn(process.execPath, [PROGRAM, ...words], { env: { ...env, ...added } }),
    logIn() {
      run('auth', 'login');
      run('consent', 'request', '--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS', '--all-accounts');
      return JSON.parse(run('auth', 'status', '--json')).customerId;
    },
    /** The addresses that the sandbox reports. */
    running: () => JSON.parse(readFileSync(join(folder, 'sandbox', 'running.json'), 'utf8')),
    /** Stores tokens for the first made up customers, as their logins would. */
    async logInMany(count) {
      const { baseUrl } = this.running();
      const tokens = join(folder, 'tokens', 'sandbox');
      const later = (seconds) => new Date(Date.now() + seconds * 1000).toISOString();
      for (let number = 1; number <= count; number += 1) {
        const customerId = String(5_000_000 + number);
        const granted = await this.grant(customerId);
        const stored = {
          accessToken: granted.accessToken,
          accessTokenExpiresAt: later(granted.accessTokenSeconds),
          refreshToken: granted.refreshToken,
          refreshTokenExpiresAt: later(granted.refreshTokenSeconds),
          scope: null,
          baseUrl: new URL(baseUrl).href,
        };
        const ofCustomer = join(tokens, `customer-${customerId}`);
        mkdirSync(ofCustomer, { recursive: true, mode: 0o700 });
        writeFileSync(join(ofCustomer, '1.json'), JSON.stringify(stored), { mode: 0o600 });
      }
    },
    /** Tokens for a customer, without a login. */
    async grant(customerId) {
      const { customerSiteUrl, controlToken } = this.running();
      const answer = await fetch(`${customerSiteUrl}/control/tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${controlToken}` },
        body: JSON.stringify({ customerId }),
      });
      return answer.json();
    },
    /** The environment of `accounts.sh` and `accounts.js`. */
    callEnv(customerId) {
      const settings = Object.fromEntries(
        run('sandbox', 'env')
          .split('\n')
          .flatMap((line) => {
            const [, name, value] = /^export (\w+)='?(.*?)'?$/.exec(line) ?? [];
            return name ? [[name, value]] : [];
          }),
      );
      const tokenFile = join(folder, 'token');
      writeFileSync(tokenFile, run('auth', 'token'), { mode: 0o600 });
      return {
        ...env,
        BASE_URL: settings.PSD2_BASE_URL,
        APP_NAME: settings.PSD2_APP_NAME,
        CERTIFICATES: join(folder, 'sandbox', 'certificates'),
        CUSTOMER_ID: customerId,
        TOKEN_FILE: tokenFile,
      };
    },
    close() {
      run('sandbox', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
