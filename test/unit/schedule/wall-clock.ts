/** What the schedule tests know about time zones, from Intl alone: nothing in here uses luxon, croner or src. */

export const MINUTE = 60_000;
export const HOUR: number = 60 * MINUTE;
export const DAY: number = 24 * HOUR;

export const at = (iso: string): number => Date.parse(iso);
export const iso = (instant: number): string => new Date(instant).toISOString();

const formats = new Map<string, Intl.DateTimeFormat>();

/** What a clock in the zone shows: `2026-03-29 03:00:00`. Sorts as text. */
export function shown(zone: string, instant: number): string {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  return format.format(instant);
}

const asUtc = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`);
export const offsetAt = (zone: string, instant: number): number =>
  asUtc(shown(zone, instant)) - Math.floor(instant / 1000) * 1000;

/** One name of each zone, that which the runtime prefers. */
const preferredZones: readonly string[] = Intl.supportedValuesOf('timeZone');

/**
 * Other names that the IANA database has for zones: a sample of those of before, of countries, and of the offsets and
 * abbreviations that are zones too. Which of two names is preferred differs between runtimes.
 */
export const linkedZones: readonly string[] = [
  'US/Eastern US/Pacific US/Hawaii US/Indiana-Starke Canada/Newfoundland Brazil/East Chile/Continental Chile/EasterIsland Mexico/BajaNorte',
  'Asia/Calcutta Asia/Kolkata Asia/Katmandu Asia/Kathmandu Asia/Saigon Asia/Ho_Chi_Minh Asia/Rangoon Asia/Yangon Asia/Istanbul Asia/Tel_Aviv',
  'Atlantic/Faeroe Atlantic/Faroe Atlantic/Jan_Mayen Australia/ACT Australia/LHI Australia/NSW Antarctica/South_Pole Africa/Asmera Africa/Timbuktu',
  'America/Buenos_Aires America/Godthab America/Nuuk America/Fort_Wayne Europe/Kiev Europe/Kyiv Europe/Belfast Europe/Nicosia',
  'Pacific/Enderbury Pacific/Kanton Pacific/Truk Pacific/Ponape Pacific/Samoa',
  'Cuba Egypt Eire GB GB-Eire Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya NZ NZ-CHAT Navajo PRC Poland Portugal ROC ROK Singapore Turkey W-SU',
  'UTC UCT Zulu Universal Greenwich GMT GMT0 GMT+0 Etc/UTC Etc/GMT+5 Etc/GMT-14 Etc/GMT+12',
  'EST MST HST EST5EDT CST6CDT MST7MDT PST8PDT CET MET EET WET',
]
  .flatMap((line) => line.split(' '))
  .filter((zone) => !preferredZones.includes(zone) && isKnown(zone));

export const everyZone: readonly string[] = [...preferredZones, ...linkedZones];

function isKnown(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** Zones whose clocks change in awkward ways: at midnight, by half an hour, across midnight, in Ramadan. */
export const awkwardZones: readonly string[] = [
  'Africa/Cairo',
  'Africa/Casablanca',
  'America/Havana',
  'America/Nuuk',
  'America/Santiago',
  'America/Asuncion',
  'America/St_Johns',
  'America/Scoresbysund',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Tehran',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Europe/Amsterdam',
];
