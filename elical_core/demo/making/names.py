"""Names a person would use, and the few facts that the data packages have out of date or that are disputed.

Everything here is common knowledge kept by hand; the rest of the corpus comes from the packages.
"""

from __future__ import annotations

from elical_core.demo.making.base import words

# Territories, dissolved states and places whose status is disputed: no question is asked about them as a country.
NOT_ASKED_AS_COUNTRY = words(
    "HK MO PR GP MQ GF RE YT NC PF EH GU VI AW CW SX BQ AN CS JE GG IM KY BM MP GL AS FO GI TC MF VG AX "
    "CK NU WF AI MS BL SH PM IO FK SJ NF CX TK CC TF PN GS AQ BV HM UM TW XK PS VA"
)

WITH_ARTICLE = words("CZ US GB NL PH AE CD CG CF DO GM BS MV SC KM SB MH")

COUNTRY_NAMES = {
    "NL": "Netherlands",
    "CV": "Cape Verde",
    "TL": "East Timor",
    "CZ": "Czech Republic",
    "FM": "Micronesia",
    "ST": "São Tomé and Príncipe",
}

COUNTRY_ALIASES: dict[str, tuple[str, ...]] = {
    "US": ("USA", "U.S.", "U.S.A.", "US", "America", "the United States of America"),
    "GB": ("UK", "U.K.", "Great Britain", "Britain"),
    "AE": ("UAE", "U.A.E.", "Emirates"),
    "KR": ("Republic of Korea", "Korea", "Korea, South"),
    "KP": ("DPRK", "Korea, North"),
    "CD": ("DR Congo", "DRC", "Democratic Republic of Congo", "Congo-Kinshasa", "Zaire"),
    "CG": ("Congo", "Republic of Congo", "Congo-Brazzaville"),
    "CZ": ("Czechia",),
    "CI": ("Côte d'Ivoire",),
    "MM": ("Burma",),
    "TR": ("Türkiye", "Turkiye"),
    "SZ": ("Swaziland",),
    "CV": ("Cabo Verde",),
    "MK": ("Macedonia",),
    "TL": ("Timor-Leste",),
    "NL": ("The Netherlands", "Holland"),
    "RU": ("Russian Federation",),
    "BA": ("Bosnia", "Bosnia-Herzegovina"),
    "CN": ("PRC", "Mainland China"),
    "SY": ("Syrian Arab Republic",),
    "LA": ("Lao",),
    "FM": ("Federated States of Micronesia",),
    "CF": ("CAR",),
    "DO": ("the Dominican Republic",),
    "BN": ("Brunei Darussalam",),
    "PS": ("Palestine", "State of Palestine", "Palestinian territories"),
    "GF": ("French Guiana",),
    "TT": ("Trinidad",),
    "BY": ("Byelorussia",),
}

# Several seats of government, a move under way, or a dispute: no single right answer.
NO_CAPITAL_QUESTION = words("ZA BO IL LK SZ BJ CI TZ GQ BI ID KI NR PW MY")

CAPITAL_NAMES = {"KZ": "Astana", "US": "Washington, D.C.", "MM": "Naypyidaw"}
CAPITAL_ALIASES: dict[str, tuple[str, ...]] = {
    "KZ": ("Nur-Sultan",),
    "US": ("Washington", "Washington DC", "District of Columbia"),
    "MM": ("Nay Pyi Taw", "Nay Pyi Daw"),
    "UA": ("Kiev",),
    "BR": ("Brasília",),
    "CO": ("Bogotá",),
    "MN": ("Ulan Bator",),
    "MD": ("Chișinău", "Kishinev"),
    "PY": ("Asunción",),
    "CR": ("San José",),
    "IS": ("Reykjavík",),
    "CM": ("Yaoundé",),
    "TG": ("Lomé",),
    "YE": ("Sana'a",),
    "MV": ("Malé",),
    "CN": ("Peking",),
    "CH": ("Berne",),
    "RO": ("Bucuresti",),
    "PL": ("Warszawa",),
    "IT": ("Roma",),
    "PT": ("Lisboa",),
    "AT": ("Wien",),
    "RS": ("Beograd",),
    "TM": ("Ashkhabad",),
    "AZ": ("Bakı",),
    "PA": ("Panama", "Ciudad de Panamá"),
    "GT": ("Guatemala", "Ciudad de Guatemala"),
    "MX": ("Ciudad de México", "CDMX"),
    "ST": ("São Tomé",),
    "TO": ("Nukuʻalofa",),
    "AG": ("Saint John's", "St Johns"),
    "GD": ("Saint George's", "St Georges"),
    "TD": ("Ndjamena",),
    "KP": ("P'yongyang",),
    "CY": ("Lefkosia",),
    "CU": ("La Habana",),
    "KW": ("Kuwait", "Al Kuwait"),
    "DZ": ("Alger",),
    "LB": ("Beyrouth",),
}

# Two continents, or a convention that people dispute.
NO_CONTINENT_QUESTION = words("ZA CF RU TR EG KZ GE AZ AM CY TL ID YE PA TT")

# A border that the data lists only one way, or whose naming is a dispute.
NO_BORDER_QUESTION = words("IL MA GB US DK SG AU")
MORE_NEIGHBOURS = {"ZM": "BW", "BW": "ZM", "FR": "BR SR NL", "NL": "FR", "BR": "FR", "SR": "FR", "ES": "GB"}

NO_CURRENCY_QUESTION = words("BG ZW VE SV EC PA LR BT CU LS NA SZ TL KH ME CS LB SY SL")
SHARED_CURRENCY_WORDS = words(
    "dollar franc pound peso dinar rupee rial riyal shilling krona krone koruna ruble won leu dirham kwacha manat som "
    "real"
)
CURRENCY_NAMES: dict[str, tuple[str, ...]] = {
    "CNY": ("Renminbi", "Yuan", "Chinese yuan", "Yuan renminbi", "RMB"),
    "GBP": ("Pound sterling", "Sterling", "British pound", "Pound"),
    "ILS": ("Israeli new shekel", "New Israeli shekel", "Shekel", "Israeli shekel", "New shekel"),
    "USD": ("US dollar", "United States dollar", "American dollar", "U.S. dollar"),
    "JPY": ("Japanese yen", "Yen"),
    "XOF": ("West African CFA franc", "CFA franc", "CFA franc BCEAO"),
    "XAF": ("Central African CFA franc", "CFA franc", "CFA franc BEAC"),
    "XCD": ("East Caribbean dollar", "Eastern Caribbean dollar"),
    "PKR": ("Pakistani rupee",),
    "LKR": ("Sri Lankan rupee",),
    "MUR": ("Mauritian rupee",),
    "UGX": ("Ugandan shilling",),
    "SAR": ("Saudi riyal", "Saudi Arabian riyal"),
    "OMR": ("Omani rial",),
    "UZS": ("Uzbekistani som", "Uzbek som", "Som", "Sum"),
    "UYU": ("Uruguayan peso",),
    "BAM": ("Convertible mark", "Bosnia and Herzegovina convertible mark", "Bosnian mark"),
    "TMT": ("Turkmenistan manat", "Turkmen manat", "Turkmenistani manat", "Turkmenistan new manat"),
    "NIO": ("Córdoba", "Nicaraguan córdoba", "Cordoba oro"),
    "CRC": ("Costa Rican colón", "Colón"),
    "AED": ("UAE dirham", "United Arab Emirates dirham", "Emirati dirham"),
    "ISK": ("Icelandic króna", "Iceland krona"),
    "SRD": ("Surinamese dollar", "Surinam dollar"),
    "TWD": ("New Taiwan dollar",),
    "BMD": ("Bermudian dollar",),
    "AFN": ("Afghani", "Afghan afghani"),
    "KHR": ("Riel", "Cambodian riel"),
    "LAK": ("Kip", "Lao kip"),
    "RWF": ("Rwandan franc",),
    "BIF": ("Burundian franc",),
    "DJF": ("Djiboutian franc",),
    "CVE": ("Cape Verdean escudo", "Cabo Verde escudo", "Escudo"),
    "BND": ("Brunei dollar",),
    "AZN": ("Azerbaijani manat",),
    "MWK": ("Malawian kwacha",),
    "MGA": ("Malagasy ariary", "Ariary"),
    "QAR": ("Qatari riyal", "Qatari rial"),
    "TOP": ("Paʻanga", "Pa'anga", "Tongan paʻanga"),
    "KGS": ("Som", "Kyrgyzstani som", "Kyrgyz som"),
    "GYD": ("Guyanese dollar", "Guyana dollar"),
    "FJD": ("Fijian dollar", "Fiji dollar"),
    "BBD": ("Barbadian dollar", "Barbados dollar"),
    "KMF": ("Comorian franc", "Comoros franc"),
    "GHS": ("Ghanaian cedi", "Cedi", "Ghana cedi"),
}

# One main language beyond dispute (the packages list the languages of a country, not their standing).
MAIN_LANGUAGE = {
    "Spanish": "MX AR CO CL CU VE UY NI HN DO CR SV GT PA ES EC",
    "Portuguese": "BR PT AO",
    "English": "GB AU NZ JM BS BB TT",
    "French": "FR MC",
    "German": "DE AT LI",
    "Italian": "IT SM",
    "Arabic": "EG SA JO SY IQ YE OM KW QA TN LY LB AE BH SD",
    "Russian": "RU",
    "Dutch": "NL SR",
    "Greek": "GR CY",
    "Korean": "KR KP",
    "Romanian": "RO MD",
    "Japanese": "JP",
    "Vietnamese": "VN",
    "Thai": "TH",
    "Burmese": "MM",
    "Khmer": "KH",
    "Lao": "LA",
    "Bengali": "BD",
    "Nepali": "NP",
    "Sinhala": "LK",
    "Persian": "IR",
    "Turkish": "TR",
    "Hebrew": "IL",
    "Georgian": "GE",
    "Armenian": "AM",
    "Azerbaijani": "AZ",
    "Uzbek": "UZ",
    "Turkmen": "TM",
    "Tajik": "TJ",
    "Mongolian": "MN",
    "Polish": "PL",
    "Czech": "CZ",
    "Slovak": "SK",
    "Hungarian": "HU",
    "Bulgarian": "BG",
    "Serbian": "RS",
    "Croatian": "HR",
    "Slovenian": "SI",
    "Albanian": "AL",
    "Macedonian": "MK",
    "Ukrainian": "UA",
    "Lithuanian": "LT",
    "Latvian": "LV",
    "Estonian": "EE",
    "Finnish": "FI",
    "Swedish": "SE",
    "Norwegian": "NO",
    "Danish": "DK",
    "Icelandic": "IS",
    "Maltese": "MT",
    "Malagasy": "MG",
    "Somali": "SO",
    "Kinyarwanda": "RW",
    "Kirundi": "BI",
    "Sesotho": "LS",
    "Tswana": "BW",
    "Haitian Creole": "HT",
    "Samoan": "WS",
    "Tongan": "TO",
    "Dhivehi": "MV",
    "Catalan": "AD",
}
LANGUAGE_ALIASES: dict[str, tuple[str, ...]] = {
    "Persian": ("Farsi",),
    "Bengali": ("Bangla",),
    "Burmese": ("Myanmar",),
    "Khmer": ("Cambodian",),
    "Lao": ("Laotian",),
    "Sinhala": ("Sinhalese",),
    "Spanish": ("Castilian",),
    "Azerbaijani": ("Azeri",),
    "Romanian": ("Moldovan",),
    "Kinyarwanda": ("Rwanda",),
    "Kirundi": ("Rundi",),
    "Sesotho": ("Southern Sotho", "Sotho"),
    "Tswana": ("Setswana",),
    "Dhivehi": ("Divehi", "Maldivian"),
    "Haitian Creole": ("Creole", "Haitian"),
    "Khalkha": ("Mongolian",),
}
