import * as z from 'zod/mini';
import { list, oneOf, orNull, text, time, whole } from '../shared/fields.ts';

/** A login; never its tokens. */
export const login = () =>
  z.object({
    profile: text('profile of the login'),
    grantType: oneOf(['authorization_code', 'client_credentials'], 'how the tokens were granted'),
    customerId: orNull(text('customer of the calls; null if no customer has logged in yet')),
    scope: orNull(text('scope that the bank granted')),
    accessTokenExpiresAt: orNull(time('null if the bank did not say')),
    refreshTokenExpiresAt: orNull(time('null if the bank did not say, or gave no refresh token')),
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
        .check(z.describe('what the bank has refused since the login, if anything')),
    ),
    callsToday: z.optional(whole('calls made today; with client credentials only')),
    dailyLimit: z.optional(
      orNull(whole('calls a day that the profile allows; with client credentials only')),
    ),
  });

export const logins = () => list(login());

export const accessToken = () =>
  z.object({
    accessToken: text('a secret: anyone who has it can read the accounts'),
    expiresAt: orNull(time('null if the bank did not say')),
  });

export const logout = () =>
  z.object({
    profile: text('profile of the login'),
    revoked: list(z.enum(['refresh_token', 'access_token']), 'the tokens that the bank has revoked'),
  });
