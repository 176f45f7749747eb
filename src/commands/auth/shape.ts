import * as z from 'zod/mini';
import { list, oneOf, orNull, text, time, whole } from '../shared/fields.ts';

/** A login; never its tokens. */
export const login = () =>
  z.object({
    profile: text('whose login it is'),
    grantType: oneOf(['authorization_code', 'client_credentials'], 'how the tokens were granted'),
    customerId: orNull(text('the customer that the calls are for; null where nobody has logged in yet')),
    scope: orNull(text('as the bank granted it')),
    accessTokenExpiresAt: orNull(time('null where the bank did not say')),
    refreshTokenExpiresAt: orNull(time('null where the bank did not say, or gave no refresh token')),
    refused: z.optional(
      z
        .object({
          what: oneOf(
            ['refresh', 'call'],
            'the renewal of the login, or a call that the bank does not allow',
          ),
          at: time('when'),
          message: text('in words'),
        })
        .check(z.describe('what the bank refused since the login, where it did')),
    ),
    callsToday: z.optional(whole('calls made today; with client credentials only')),
    dailyLimit: z.optional(
      orNull(whole('calls a day that the profile allows; with client credentials only')),
    ),
  });

export const logins = () => list(login());

export const accessToken = () =>
  z.object({
    accessToken: text('a secret: whoever has it can read the accounts'),
    expiresAt: orNull(time('null where the bank did not say')),
  });

export const logout = () =>
  z.object({
    profile: text('whose login it was'),
    revoked: list(z.enum(['refresh_token', 'access_token']), 'the tokens that the bank has revoked'),
  });
