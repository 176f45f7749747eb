import type { AnyGrant } from '../access/tokens.ts';
import type { Application } from '../folder/registration.ts';

/** The access that a customer gave to an application, or that an application has on its own. */
export interface Grant extends AnyGrant {
  application: Application;
}

/** What a customer decides after the authorize call. */
export interface LoginOrder {
  application: Application;
  redirectUri: string;
  state: string | undefined;
}
