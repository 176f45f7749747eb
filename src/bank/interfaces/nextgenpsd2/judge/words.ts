// The words that keep the reference of a refused payment, in the languages of the platforms: in small letters, without accents. They
// only keep a reference, and never free one: a word too many costs the operator a look at the statement, a missing one costs money.

/**
 * The words of a language, between commas. One counts by its beginning, one that ends with `$` as a whole. A blank or a hyphen
 * stands for either, an apostrophe, or nothing.
 */
interface Words {
  /** They speak of another payment, or of an earlier request. */
  duplicate: string;
  /** They do, too, unless the sentence says the opposite: "does not exist". */
  exists: string;
  /** They speak of a state: what the bank refuses now, it may have taken a moment before. */
  state: string;
  /** At most three words before one of `exists`, they say the opposite. */
  not: string;
  /** So do these directly after it: "existiert nicht". */
  notAfter?: string;
}

export const WORDS: readonly Words[] = [
  // English
  {
    duplicate: `
      double, twice, already, repeat, replay, unique, same, identical, another, other, previous,
      conflict, in use, belong, processed, received, pending, dupl, dup$, again$, resubmi, re-submi,
      resend, resent, re-sent, reus, re-us, preexist, idempoten, used before, used previously`,
    exists: 'exist',
    state: `
      fund, balance, money, enough, limit, exceed, insufficient, block, lock, freez, froz, suspend,
      closed, active, cut-off, temporar, unavailable, time-out, later, today, daily, now$,
      moment, minute, current, maintenance, busy, ocsp, revok, session, could not, cannot be asked,
      per day, unreachable, overload, throttl, retry, outage, down$, offline, out of service`,
    not: 'not$, no$, never$, cannot$',
  },
  // German
  {
    duplicate: `
      doppel, dublett, duplik, zweimal, mehrfach, bereits, schon, wiederhol, erneut, liegt vor,
      vergeben, eindeutig, gleich, identisch, ander, vorherig, fruher, konflikt, verwendet, gehort,
      verarbeitet, empfangen, eingegangen, eingereicht, erfasst, frueher, gehoert, nochmal`,
    exists: 'exist, vorhanden',
    state: `
      guthaben, saldo, deckung, gedeckt, geld, limit, grenze, uberschr, uberzieh, gesperrt, sperr,
      blockiert, ausgesetzt, geschlossen, aktiv, annahmeschluss, vorubergehend, zeitweise, nicht
      erreichbar, nicht verfugbar, spater, heute, taglich, tages, derzeit, momentan, aktuell, gerade,
      wartung, uberlastet, widerrufen, sitzung, frist, zeituberschreitung, ueberschr, ueberzieh,
      uberweisungslimit, ueberweisungslimit, verfugungslimit, verfuegungslimit, zahlungslimit,
      kontosperr, kontodeckung, unterdeckung, nicht verfuegbar, voruebergehend, spaeter, taeglich,
      ueberlastet, zeitueberschreitung, jetzt, augenblick`,
    not: 'nicht$, kein',
    notAfter: 'nicht$',
  },
  // French
  {
    duplicate: `
      double, doublon, deux fois, deja, a nouveau, repet, rejou, unique, reutilis, meme, identique,
      autre, precedent, conflit, utilise, appartient, traite, recu$, enregistre, en attente`,
    exists: 'exist',
    state: `
      fonds, solde, argent, provision, limite, plafond, depass, insuffisan, bloqu, verrouill, gele,
      suspend, ferm, cloture, actif, heure limite, temporair, indisponible, delai, plus tard, aujourd,
      quotidien, journal, maintenant, moment, actuel, maintenance, occupe, revoqu, session`,
    not: 'pas$, ne$, n$, non$, aucun',
    notAfter: 'pas$',
  },
  // Dutch
  {
    duplicate: `
      dubbel, duplicaat, tweemaal, twee keer, reeds, al$, opnieuw, herhaal, uniek, hergebruik, zelfde,
      identiek, ander, eerder, conflict, in gebruik, behoort, verwerkt, ontvangen`,
    exists: 'bestaat',
    state: `
      saldo, geld, dekking, limiet, overschr, onvoldoende, geblokkeerd, blokk, bevroren, opgeschort,
      gesloten, actief, tijdelijk, niet beschikbaar, later, vandaag, dagelijks, dag$, nu$, moment,
      huidig, onderhoud, bezet, ingetrokken, sessie`,
    not: 'niet$, geen',
    notAfter: 'niet$',
  },
  // Italian
  {
    duplicate: `
      doppi, duplicat, due volte, gia$, di nuovo, ripet, unic, riutilizz, stess, identic, altr,
      precedent, conflitt, in uso, appartien, elaborat, ricevut, presente, inserit`,
    exists: 'esist',
    state: `
      fond, saldo, denaro, capienza, limite, massimale, super, insufficient, blocc, congel, sospes,
      chius, attiv, temporane, non disponibil, piu tardi, oggi, giornalier, adesso, ora$, momento,
      attual, manutenzione, occupat, revoc, session`,
    not: 'non$, nessun',
  },
  // Spanish
  {
    duplicate: `
      doble, duplicad, dos veces, ya$, de nuevo, repetid, unic, reutiliz, mismo, misma$, mismas$, identic, otro, otra,
      anterior, conflict, en uso, pertenece, procesad, recibid, registrad`,
    exists: 'exist',
    state: `
      fondo, saldo, dinero, limite, exced, super, insuficient, bloque, congel, suspend, cerrad, activ,
      temporal, no disponible, mas tarde, hoy$, diari, ahora, momento, actual, mantenimiento, ocupad,
      revocad, sesion`,
    not: 'no$, ningun',
  },
  // Danish
  {
    duplicate: `
      dobbelt, duplikat, to gange, allerede, igen, gentag, unik, genbrug, samme, identisk, anden,
      andre, tidligere, konflikt, i brug, tilhor, behandlet, modtaget, tilhoer`,
    exists: 'findes, eksister',
    state: `
      saldo, daekning, penge, graense, overskr, utilstraek, blokeret, spaerret, frosset, suspender,
      lukket, aktiv, midlertidig, ikke tilgaengelig, senere, i dag, daglig, nu$, ojeblik, aktuel,
      vedligehold, optaget, tilbagekaldt, session, oejeblik, overskred`,
    not: 'ikke$, ingen',
    notAfter: 'ikke$',
  },
  // Romanian
  {
    duplicate: `
      dubl, duplicat, de doua ori, deja, din nou, repet, unic, reutiliz, acela, identic, alt$, alta$,
      alte$, alti$, anterior, conflict, in uz, folosit, apartine, procesat, primit, inregistrat`,
    exists: 'exist',
    state: `
      fond, sold, bani, limita, depas, insuficient, blocat, inghet, suspend, inchis, activ, temporar,
      indisponibil, mai tarziu, azi$, astazi, zilnic, acum, moment, curent, mentenanta, ocupat,
      revocat, sesiune`,
    not: 'nu$, niciun',
  },
  // Lithuanian
  {
    duplicate: `
      dubl, du kartus, jau$, vel$, dar karta, kartoj, unikal, tas pats, identisk, kita, kitas,
      ankstes, konflikt, naudojam, priklauso, apdorot, gaut`,
    exists: 'egzistuoja',
    state: `
      lesu, lesos, likut, balans, pinig, limit, virsij, nepakank, blokuot, uzrakint, isaldyt,
      sustabdyt, uzdaryt, aktyv, laikin, neprieinam, veliau, siandien, dien, dabar, siuo metu,
      prieziur, uzimt, atsaukt, sesij`,
    not: 'ne$, nera$',
  },
  // Swedish, Finnish, Polish, Czech, Slovak, Hungarian, Portuguese, Croatian, Estonian
  {
    duplicate: `
      redan, dubbl, samma, annan, upprepa, anvands, jo$, paallekkai, sama$, toinen, juz$, powtorz, powtarza, ponown,
      taki sam, inny, inna, jiz$, uz$, opakovan, znovu, stejn, rovnak, jin$, mar$, szerepel, ismetel, azonos, masik,
      ja$, mesm, outr, repetid, vec$, ponovlj, dvostruk, juba, topelt`,
    exists: 'finns, olemassa, istniej, existuj, letez, postoji',
    state: `
      tackning, sparra, tillfallig, stangd, senare, idag, otillracklig, tilapai, estetty, suljettu, kate$, srodk,
      zablokow, tymczasow, zamkn, dzisiaj, chwil, przekrocz, niewystarcz, zablokov, docasn, zustat, zostat, prekroc,
      dnes, uzavr, nedostat, egyenleg, zarolt, ideiglenes, fedezet, bloquead, encerrad, hoje, agora, blokir, privremen`,
    not: 'inte$, ej$, ei$, nie$, ne$, nem$, nao$',
  },
];

/** Words of expiry, of the signature and of its digest, in an error about a certificate. */
export const EXPIRY = `
  expir, out of date, outdated, no longer, any more, not yet, validity, valid until, valid from, valid to, valid after, valid before, not before, not after,
  past, ended, perime, echu, udlobet, vyprs, lejart, aegun, vanhen, utgang, wygas, istek, nevaz, neplatn,
  ends, date, time, clock, sign$, signs$, signe, signi, signa, digest, hash, checksum, abgelaufen, ablauf, gultig, prufsumme, scadut, scadenza,
  firma, caduc, vencid, verlopen, handtekening, udlob, underskrift, semnat, paras, pasibaig`;

/** A field is missing. An emptied field is too short, too, and not between two lengths. */
export const MISSING = `
  miss, requir, mandator, null, empty, emptied, blank, not present, not found, given, provid, specified, nothing, at least, between, greater
  than, absent, omit, lack, undefined, unset, not set, not sent, not supplied, not filled, not there, must be supplied, no value, there is
  no$, has no$, have no$, need, minimum, too short, shorter, positive, does not contain, does not have, is less than, has less than, is fewer
  than, has fewer than, more than zero, more than 0$, longer than 0$, fehl, pflicht, leer$, erforderlich, angegeben, manquant, obligat,
  vide$, mancant, vuot, vacio, falta, verplicht, ontbreek, leeg$, mangler, pakraevet, lipse, privalom, truksta, nil$, none$, or more, have a value,
  has a value, filled, populated, contain a value`;

/** Something of the form of a field, in English. */
export const FORM = `
  too long, longer than, more than, maximum, format, pattern, match, mismatch, malformed, well formed, no valid, not valid, not a valid,
  invalid, non valid, wrong, incorrect, not correct, check digit, sign$, signs$, letter, character, digit, is no$, must be a$, must be an$,
  does not exist, do not exist, unknown, not supported, unsupported, fit$, fits$, conform`;

/** Those of them that are about an amount, and not about its form, unless one of the others is beside them. */
export const MORE_OF_AMOUNTS = 'longer than, more than, maximum';
export const BESIDE_AMOUNTS = 'sign$, signs$, letter, character, digit, decimal, place, fraction, length';

/** Words for the certificate of the connection, which psd2 always sends. */
export const CONNECTION = 'tls, ssl, mtls, mutual, client, qwac, connection, transport, website';

/** Names of what identifies a request or a payment: a bank that names one speaks of a repetition. */
export const IDENTIFIERS =
  'x request id, request id, end to end id, instruction id, instr id, payment information id, pmt inf id, payment id, message id, msg id, transaction id, resource id, uetr';
