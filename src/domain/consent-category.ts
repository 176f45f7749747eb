/** The API categories that a customer can consent to (interface specification, "Consent request"). */
export const CONSENT_CATEGORIES = ['ACCOUNT_INFO', 'FUNDS_AVAILABILITY', 'PAYMENTS'] as const;
export type ConsentCategory = (typeof CONSENT_CATEGORIES)[number];
