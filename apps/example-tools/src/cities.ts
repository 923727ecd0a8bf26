// The cities these tools know. The weather is made up once and never changes, so that answers can be compared.
export interface City {
  readonly name: string;
  readonly country: string;
  /** IANA time zone. */
  readonly zone: string;
  readonly celsius: number;
  readonly sky: string;
  readonly windMetresPerSecond: number;
}

const city = (
  name: string,
  country: string,
  zone: string,
  celsius: number,
  sky: string,
  windMetresPerSecond: number,
): City => ({ name, country, zone, celsius, sky, windMetresPerSecond });

export const cities: readonly City[] = [
  city('Amsterdam', 'Netherlands', 'Europe/Amsterdam', 9, 'drizzle', 8),
  city('Athens', 'Greece', 'Europe/Athens', 18, 'clear sky', 3),
  city('Auckland', 'New Zealand', 'Pacific/Auckland', 19, 'scattered clouds', 7),
  city('Bangkok', 'Thailand', 'Asia/Bangkok', 32, 'thunderstorms', 2),
  city('Berlin', 'Germany', 'Europe/Berlin', 6, 'overcast', 5),
  city('Bogotá', 'Colombia', 'America/Bogota', 14, 'showers', 2),
  city('Buenos Aires', 'Argentina', 'America/Argentina/Buenos_Aires', 24, 'clear sky', 5),
  city('Cairo', 'Egypt', 'Africa/Cairo', 25, 'clear sky', 4),
  city('Cape Town', 'South Africa', 'Africa/Johannesburg', 21, 'windy and clear', 11),
  city('Chicago', 'United States', 'America/Chicago', 3, 'windy', 10),
  city('Copenhagen', 'Denmark', 'Europe/Copenhagen', 7, 'light rain', 8),
  city('Dubai', 'United Arab Emirates', 'Asia/Dubai', 31, 'clear sky', 4),
  city('Dublin', 'Ireland', 'Europe/Dublin', 10, 'light rain', 7),
  city('Helsinki', 'Finland', 'Europe/Helsinki', 1, 'snow', 6),
  city('Hong Kong', 'China', 'Asia/Hong_Kong', 23, 'haze', 4),
  city('Istanbul', 'Türkiye', 'Europe/Istanbul', 14, 'scattered clouds', 5),
  city('Lagos', 'Nigeria', 'Africa/Lagos', 30, 'humid with showers', 3),
  city('Lima', 'Peru', 'America/Lima', 19, 'mist', 3),
  city('Lisbon', 'Portugal', 'Europe/Lisbon', 18, 'sunny', 4),
  city('London', 'United Kingdom', 'Europe/London', 9, 'overcast', 5),
  city('Madrid', 'Spain', 'Europe/Madrid', 13, 'clear sky', 2),
  city('Mexico City', 'Mexico', 'America/Mexico_City', 21, 'sunny', 2),
  city('Mumbai', 'India', 'Asia/Kolkata', 31, 'haze', 3),
  city('Nairobi', 'Kenya', 'Africa/Nairobi', 22, 'scattered clouds', 4),
  city('New York', 'United States', 'America/New_York', 8, 'clear sky', 6),
  city('Oslo', 'Norway', 'Europe/Oslo', 2, 'sleet', 4),
  city('Paris', 'France', 'Europe/Paris', 11, 'light rain', 4),
  city('Reykjavík', 'Iceland', 'Atlantic/Reykjavik', 3, 'rain', 12),
  city('Rio de Janeiro', 'Brazil', 'America/Sao_Paulo', 28, 'sunny', 4),
  city('Rome', 'Italy', 'Europe/Rome', 16, 'sunny', 3),
  city('San Francisco', 'United States', 'America/Los_Angeles', 14, 'fog', 5),
  city('São Paulo', 'Brazil', 'America/Sao_Paulo', 23, 'showers', 3),
  city('Seoul', 'South Korea', 'Asia/Seoul', 7, 'clear sky', 3),
  city('Singapore', 'Singapore', 'Asia/Singapore', 30, 'thunderstorms', 2),
  city('Sydney', 'Australia', 'Australia/Sydney', 24, 'sunny', 6),
  city('Tokyo', 'Japan', 'Asia/Tokyo', 13, 'clear sky', 3),
  city('Toronto', 'Canada', 'America/Toronto', 4, 'light snow', 6),
  city('Vienna', 'Austria', 'Europe/Vienna', 6, 'fog', 1),
  city('Warsaw', 'Poland', 'Europe/Warsaw', 3, 'overcast', 4),
  city('Zürich', 'Switzerland', 'Europe/Zurich', 5, 'fog', 1),
];

const plain = (name: string): string => name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();

/** By name, whatever the case and the accents; "Paris, France" is Paris too. */
export function findCity(name: string): City | undefined {
  const wanted = plain(name);
  return cities.find((each) => plain(each.name) === wanted || plain(`${each.name}, ${each.country}`) === wanted);
}
