import type { Shape } from '../../terminal/output/shape.ts';

/** What a command prints for programs. */
export interface PrintedData {
  what: string;
  shape: () => Promise<Shape>;
}

const accounts = () => import('../accounts/shape.ts');
const auth = () => import('../auth/shape.ts');
const cert = () => import('../cert/shape.ts');
const consent = () => import('../consent/shape.ts');
const log = () => import('../log/shape.ts');
const operation = () => import('../operation/shape.ts');
const profile = () => import('../profile/shape.ts');
const sandbox = () => import('../sandbox/shape.ts');
const schema = () => import('./shape.ts');
const shared = () => import('../shared/shapes.ts');
const store = () => import('../store/shape.ts');
const transfer = () => import('../transfer/shape.ts');

const login = { what: 'a login', shape: async () => (await auth()).login };
const aProfile = { what: 'a profile', shape: async () => (await profile()).profile };
const settings = { what: 'the settings of a profile', shape: async () => (await profile()).profileSettings };
const protection = {
  what: 'whether a profile is protected',
  shape: async () => (await profile()).protection,
};
const bankData = { what: "the bank's own data", shape: async () => (await shared()).bankData };
const saved = { what: 'the file that was saved', shape: async () => (await shared()).saved };
const aConsent = { what: 'a consent', shape: async () => (await consent()).consent };
const aTransfer = { what: 'a transfer', shape: async () => (await transfer()).transfer };
const anOperation = { what: 'an operation', shape: async () => (await operation()).operation };
const aSandbox = { what: 'addresses of the sandbox', shape: async () => (await sandbox()).sandbox };

/**
 * What each command prints with `--json`, by the name of the command. If an option changes the output, the name includes the
 * option. `error` and `event` are lines of stderr. Commands that print no data are left out.
 */
export const PRINTED: Readonly<Record<string, PrintedData>> = {
  'auth login': login,
  'auth status': login,
  'auth refresh': login,
  'auth list': { what: 'logins', shape: async () => (await auth()).logins },
  'auth token': { what: 'an access token', shape: async () => (await auth()).accessToken },
  'auth logout': { what: 'what was revoked', shape: async () => (await auth()).logout },
  'profile add': aProfile,
  'profile set': settings,
  'profile edit': settings,
  'profile use': aProfile,
  'profile list': { what: 'profiles', shape: async () => (await profile()).profiles },
  'profile show': settings,
  'profile remove': { what: 'what was removed', shape: async () => (await profile()).removed },
  'profile protect': protection,
  'profile unprotect': protection,
  'customer id': {
    what: 'the id of a customer',
    shape: async () => (await import('../customer/shape.ts')).customerId,
  },
  'customer show': bankData,
  'products list': bankData,
  'accounts list': { what: 'accounts', shape: async () => (await accounts()).accounts },
  'accounts show': bankData,
  'accounts balance': { what: 'balances', shape: async () => (await accounts()).balance },
  'accounts transactions': { what: 'transactions', shape: async () => (await accounts()).transactions },
  'accounts transactions --chart': {
    what: 'balances by day, money in and out by month',
    shape: async () => (await accounts()).chart,
  },
  'accounts transactions --export': saved,
  'accounts report': saved,
  'accounts export': saved,
  'sync run': { what: 'what was synced', shape: async () => (await import('../sync/shape.ts')).syncReport },
  'sync status': {
    what: 'progress of a round over all customers',
    shape: async () => (await import('../sync/shape.ts')).syncStatus,
  },
  'consent request': aConsent,
  'consent list': { what: 'consents', shape: async () => (await consent()).consents },
  'consent show': aConsent,
  'consent resume': aConsent,
  'consent cancel': aConsent,
  'consent resolve': aConsent,
  'transfer create': aTransfer,
  'transfer list': { what: 'transfers', shape: async () => (await transfer()).transfers },
  'transfer show': aTransfer,
  'transfer status': aTransfer,
  'transfer resume': aTransfer,
  'transfer cancel': aTransfer,
  'transfer resolve': aTransfer,
  'transfer prepare': { what: 'what the bank allows', shape: async () => (await transfer()).terms },
  'transfer receipt': saved,
  'operation run': anOperation,
  'operation list': { what: 'operations', shape: async () => (await operation()).operations },
  'operation show': anOperation,
  'operation resume': anOperation,
  'operation cancel': anOperation,
  'operation resolve': anOperation,
  'operation prepare': bankData,
  'operation verify': anOperation,
  'operation sca': anOperation,
  'operation execute': anOperation,
  'operation status': {
    what: "the bank's status of an operation",
    shape: async () => (await operation()).operationStatus,
  },
  api: { what: "the bank's answer", shape: async () => (await import('../api/shape.ts')).bankAnswer },
  'api --dry-run': {
    what: 'a request that was not sent',
    shape: async () => (await import('../api/shape.ts')).composedRequest,
  },
  'log list': { what: 'calls to the bank', shape: async () => (await log()).loggedCalls },
  'log bundle': { what: 'what is in the file', shape: async () => (await log()).bundle },
  'cert inspect': { what: 'certificates', shape: async () => (await cert()).certificates },
  'cert check': { what: 'checks of certificates', shape: async () => (await cert()).certificateChecks },
  'cert generate': { what: 'the certificates that were made', shape: async () => (await cert()).generated },
  doctor: { what: 'checks', shape: async () => (await shared()).checks },
  expiring: {
    what: 'what ends soon',
    shape: async () => (await import('../expiring/shape.ts')).endings,
  },
  'store init': { what: 'the schema of a database', shape: async () => (await store()).initialised },
  'store copy': { what: 'what was copied and compared', shape: async () => (await store()).storeCopied },
  'store status': { what: 'contents of the store', shape: async () => (await store()).storeStatus },
  'sandbox start': aSandbox,
  'sandbox status': aSandbox,
  'sandbox stop': { what: 'whether the sandbox was running', shape: async () => (await sandbox()).stopped },
  'sandbox reset': { what: 'whether the sandbox was running', shape: async () => (await sandbox()).reset },
  'sandbox env': { what: 'environment variables', shape: async () => (await sandbox()).variables },
  'sandbox console': { what: 'address of the console', shape: async () => (await sandbox()).consoleUrl },
  'sandbox customer': { what: 'what the customer did', shape: async () => (await sandbox()).playedCustomer },
  'sandbox fault add': { what: 'a fault', shape: async () => (await sandbox()).fault },
  'sandbox fault list': { what: 'faults', shape: async () => (await sandbox()).faults },
  'sandbox fault clear': { what: 'number of removed faults', shape: async () => (await sandbox()).cleared },
  schema: { what: 'schemas', shape: async () => (await schema()).schemas },
  demo: {
    what: 'the transfer of the demo',
    shape: async () => (await import('../demo/shape.ts')).demoTransfer,
  },
  error: {
    what: 'the last line of stderr of a command that failed',
    shape: async () => (await schema()).error,
  },
  event: { what: 'any other line of stderr', shape: async () => (await schema()).event },
};
