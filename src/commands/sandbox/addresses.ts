import type { RunningSandbox } from '../../sandbox/folder/running.ts';
import type { Column } from '../../terminal/output/output.ts';
import { SANDBOX_PROFILE } from './profile.ts';

/** The addresses of a sandbox. */
export interface SandboxAddresses {
  baseUrl: string;
  customerSiteUrl: string;
  consoleUrl: string;
  pid: number;
  profile: string;
}

export const SANDBOX_FIELDS: Column<SandboxAddresses>[] = [
  { title: 'Interface', value: ({ baseUrl }) => baseUrl },
  { title: 'Customer site', value: ({ customerSiteUrl }) => customerSiteUrl },
  { title: 'Console', value: ({ consoleUrl }) => consoleUrl },
  { title: 'Process', value: ({ pid }) => String(pid) },
  { title: 'Profile', value: ({ profile }) => profile },
];

/** The addresses of a running sandbox. */
export function addressesOf({ baseUrl, customerSiteUrl, pid }: RunningSandbox): SandboxAddresses {
  const consoleUrl = `${customerSiteUrl}/console`;
  return { baseUrl, customerSiteUrl, consoleUrl, pid, profile: SANDBOX_PROFILE };
}
