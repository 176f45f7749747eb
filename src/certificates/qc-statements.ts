import { type AsnType, BaseStringBlock, Constructed, ObjectIdentifier, Sequence, Utf8String } from 'asn1js';
import { Psd2Error } from '../errors.ts';
import { bytesOf, childrenOf, oidOf, readBer } from './asn1.ts';

/** The extension with the statements (RFC 3739, section 3.2.6). */
export const QC_STATEMENTS_OID = '1.3.6.1.5.5.7.1.3';

/** The purpose of a qualified certificate: a seal (QSealC), a website (QWAC) or a signature. */
export type QcType = 'eseal' | 'web' | 'esign';

/**
 * The roles of a payment service provider (ETSI TS 119 495, section 5.1). AISP is `PSP_AI`, PISP `PSP_PI`, PIISP `PSP_IC`. Those with
 * `VOP` are of the verification of payee.
 */
export type Psd2Role = keyof typeof roleOids;

/** The PSD2 statement: the provider's roles and the national authority that licensed it. */
export interface Psd2Statement {
  /** The names of {@link Psd2Role}. A role that psd2 does not know has its OID. */
  roles: string[];
  ncaName: string;
  /** `<CC>-<2 to 8 capitals>`, for example `IT-BI`. */
  ncaId: string;
}

interface QcStatements {
  qcCompliance: boolean;
  qcType: QcType | undefined;
  psd2: Psd2Statement | undefined;
}

const QC_COMPLIANCE = '0.4.0.1862.1.1';
const QC_TYPE = '0.4.0.1862.1.6';
const PSD2_STATEMENT = '0.4.0.19495.2';

const qcTypeOids: Readonly<Record<QcType, string>> = {
  esign: '0.4.0.1862.1.6.1',
  eseal: '0.4.0.1862.1.6.2',
  web: '0.4.0.1862.1.6.3',
};

const roleOids = {
  PSP_AS: '0.4.0.19495.1.1',
  PSP_PI: '0.4.0.19495.1.2',
  PSP_AI: '0.4.0.19495.1.3',
  PSP_IC: '0.4.0.19495.1.4',
  PSP_CB: '0.4.0.19495.1.5',
  PSP_PA: '0.4.0.19495.1.6',
  VOP_RS: '0.4.0.19495.1.51',
  VOP_VS: '0.4.0.19495.1.52',
} as const;

/** The DER of the extension's value (ETSI EN 319 412-5, section 4; TS 119 495, section 5.1). */
export function encodeQcStatements({ qcCompliance, qcType, psd2 }: QcStatements): Uint8Array {
  const statements: Sequence[] = [];
  if (qcCompliance) statements.push(sequence(oid(QC_COMPLIANCE)));
  if (qcType) statements.push(sequence(oid(QC_TYPE), sequence(oid(qcTypeOids[qcType]))));
  if (psd2) {
    const roles = psd2.roles.map((role) => sequence(oid(isRole(role) ? roleOids[role] : role), utf8(role)));
    statements.push(
      sequence(oid(PSD2_STATEMENT), sequence(sequence(...roles), utf8(psd2.ncaName), utf8(psd2.ncaId))),
    );
  }
  return new Uint8Array(sequence(...statements).toBER());
}

const sequence = (...value: AsnType[]) => new Sequence({ value });
const oid = (value: string) => new ObjectIdentifier({ value });
const utf8 = (value: string) => new Utf8String({ value });

/**
 * What a request for a successor asks for (the extension's value, DER): of the statements those about the TPP, as the authority wrote
 * them. @throws Psd2Error `certificate` if the value is not DER
 */
export function keptStatements(der: Uint8Array): Uint8Array {
  const wanted = [QC_COMPLIANCE, QC_TYPE, PSD2_STATEMENT];
  const value = childrenOf(readDer(der)).filter((statement) =>
    wanted.includes(oidOf(sequenceParts(statement)[0])),
  );
  return new Uint8Array(sequence(...value).toBER());
}

/**
 * Reads the extension's value. Ignores other statements. Identifies roles by their OID, not by their name. Takes the kinds of text and the
 * explicit tags that some authorities write.
 *
 * @throws Psd2Error `certificate` if the value is not DER.
 */
export function decodeQcStatements(der: Uint8Array): QcStatements {
  const statements: QcStatements = { qcCompliance: false, qcType: undefined, psd2: undefined };
  for (const statement of childrenOf(readDer(der))) {
    const [id, info] = sequenceParts(statement);
    switch (oidOf(id)) {
      case QC_COMPLIANCE:
        statements.qcCompliance = true;
        break;
      case QC_TYPE:
        statements.qcType = sequenceParts(info)
          .map((type) => nameOfOid(qcTypeOids, oidOf(type)))
          .find((type) => type !== undefined);
        break;
      case PSD2_STATEMENT:
        statements.psd2 = readPsd2Statement(info);
        break;
    }
  }
  return statements;
}

function readPsd2Statement(info: AsnType | undefined): Psd2Statement {
  const [roles, ncaName, ncaId] = sequenceParts(info);
  const oids = sequenceParts(roles).map((role) => oidOf(sequenceParts(role)[0]));
  return {
    roles: oids.filter((oid) => oid !== '').map((oid) => nameOfOid(roleOids, oid) ?? oid),
    ncaName: stringOf(ncaName),
    ncaId: stringOf(ncaId),
  };
}

function readDer(der: Uint8Array): AsnType | undefined {
  try {
    const value = der.length === 0 ? undefined : readBer(der);
    if (!hasLengths(value)) throw new TypeError('This is BER, and not DER');
    return value;
  } catch (cause) {
    throw new Psd2Error('certificate', 'The qcStatements of the certificate are not valid DER', {
      hint: 'Ask the certificate authority for a correct certificate.',
      cause,
    });
  }
}

/** DER gives the length of each value, where BER may mark its end instead. */
function hasLengths(value: AsnType | undefined): boolean {
  return value?.lenBlock.isIndefiniteForm !== true && childrenOf(value).every(hasLengths);
}

const CONTEXT_SPECIFIC = 3;

/** The value in an explicit tag, however deep; any other value itself. */
function untagged(value: AsnType): AsnType {
  const [inner, ...more] = childrenOf(value);
  const isTag = value instanceof Constructed && value.idBlock.tagClass === CONTEXT_SPECIFIC;
  return isTag && inner && more.length === 0 ? untagged(inner) : value;
}

/** The values in a SEQUENCE, each without its explicit tags. */
function sequenceParts(value: AsnType | undefined): AsnType[] {
  return childrenOf(value && untagged(value)).map(untagged);
}

/** A text of any kind. One with an implicit tag is UTF-8, as the standard says. */
function stringOf(value: AsnType | undefined): string {
  if (value instanceof BaseStringBlock) return value.getValue();
  return value?.idBlock.tagClass === CONTEXT_SPECIFIC ? Buffer.from(bytesOf(value)).toString('utf8') : '';
}

function isRole(text: string): text is Psd2Role {
  return Object.hasOwn(roleOids, text);
}

function nameOfOid<Key extends string>(table: Readonly<Record<Key, string>>, oid: string): Key | undefined {
  for (const key in table) if (table[key] === oid) return key;
  return undefined;
}
