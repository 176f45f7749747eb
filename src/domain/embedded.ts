/** A way in which the customer can prove an authorisation, as the bank names it (the standard, "Authentication Object"). */
export interface ScaMethod {
  id: string;
  /** The bank's own word: `SMS_OTP`, `CHIP_OTP`, `PHOTO_OTP`, `PUSH_OTP`, or another. It decides nothing. */
  type: string;
  version?: string;
  name?: string;
  explanation?: string;
}

/** What the customer needs for a TAN (the standard, "Challenge"). Texts are the bank's own, as they came. */
export interface ScaChallenge {
  information?: string;
  data?: string[];
  /** A PNG, in base64. */
  image?: string;
  otpMaxLength?: string;
  otpFormat?: string;
}

/** How a bank that takes credentials from psd2 sees its customers, by its bank file. */
export interface EmbeddedCustomers {
  /** The bank has no other way. */
  isAlone: boolean;
  /** The bank's name for PSU-ID. */
  label?: string | undefined;
  /** The bank's own address. A gateway may stand before it. */
  address?: string | undefined;
}
