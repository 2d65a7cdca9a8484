"""Word lists that the rules share. All entries are case-folded and free of accents."""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """The words of a text, separated by white space."""
    return frozenset(text.split())


ARTICLES = frozenset({"a", "an", "the"})

# Words that carry no answer of their own. Negations are not among them.
STOPWORDS = ARTICLES | words_of(
    """of in on at by to from for with as into onto over about during within near upon per via and & or is are was
    were be been being am do does did has have had having will would shall should can could may might must it
    its he him his she her hers they them their theirs we us our i me my you your who whom whose which what when
    where why how that this these those there here then so also just only very really probably likely maybe
    actually called named known said named mr mrs ms dr sir"""
)

# Generic words around an answer ("located in X", "the author X"). They go only where they are written small.
WRAPPERS = words_of(
    """located situated found based place movie film song album book novel game show series character actor actress
    author writer director producer composer name names type types kind kinds answer team currency color colour
    language year years date time month day citizen nationality born died made released published written
    created founded invented established built took happened came ended began started player members member"""
)
# "the city of X", "the X River": the kind of place, part of the name only sometimes.
PLACE_TYPES = words_of(
    """city town village country state region area continent province island county district river sea mountain
    lake"""
)

NEGATIONS = words_of("""not no never neither nor none nobody nothing nowhere without non cannot nicht kein pas nunca""")

# One side has such a word and the other lacks it: another thing, or another rank.
QUALIFIERS = words_of(
    """north south east west northern southern eastern western central northeast northwest southeast southwest
    upper lower inner outer new old ancient modern great greater lesser little big small large major minor
    senior junior sr jr elder younger older vice deputy former ex assistant acting co sub pre post anti non pro
    semi half quasi pseudo step grand great-grandmother father mother brother sister son daughter wife husband
    widow men women boys girls male female mens womens max min maximum minimum high low hot cold left right
    before after except excluding including almost nearly partly inter intra hyper hypo first second last next
    previous republic democratic army navy air force guard university college school institute airport station
    museum stadium bank church cathedral hospital newspaper times post magazine band orchestra club party"""
)

_OPPOSITES = """north/south east/west northern/southern eastern/western upper/lower inner/outer new/old ancient/modern
    greater/lesser big/small large/small larger/smaller bigger/smaller largest/smallest biggest/smallest
    longer/shorter longest/shortest higher/lower highest/lowest taller/shorter tallest/shortest high/low
    hot/cold hotter/colder warm/cold left/right before/after senior/junior major/minor elder/younger
    older/younger oldest/youngest more/less most/least many/few increase/decrease increases/decreases
    increased/decreased rise/fall rises/falls up/down above/below over/under early/late earlier/later
    first/last inside/outside internal/external male/female man/woman men/women boy/girl mother/father
    brother/sister son/daughter husband/wife king/queen actor/actress positive/negative true/false
    right/wrong good/bad better/worse best/worst open/closed win/lose won/lost gain/loss buy/sell
    import/export entrance/exit start/end begin/end beginning/end alive/dead legal/illegal accept/reject
    accepted/rejected allow/forbid allowed/forbidden same/different maximum/minimum max/min summer/winter
    day/night am/pm domestic/foreign public/private ceo/cto ceo/cfo cto/cfo odd/even fast/slow faster/slower
    full/empty strong/weak stronger/weaker hyper/hypo"""
OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in words_of(_OPPOSITES))
NEGATING_PREFIXES = ("in", "un", "im", "ir", "il", "non", "dis", "mis", "anti")

YES = words_of("yes yeah yep yup ja oui si sim da hai")
NO = words_of("no nope nah nein non nao nyet")
TRUE = words_of("true correct right agree agreed affirmative")
FALSE = words_of("false incorrect wrong untrue disagree negative")

PERSON_TITLES = words_of(
    """mr mrs ms miss dr sir dame lord lady prof professor sen senator rep representative gov governor pres
    president prime minister gen general col colonel capt captain lt lieutenant sgt sergeant maj major admiral
    king queen prince princess emperor empress tsar czar pope saint st rev reverend father judge justice mayor
    coach hon rabbi imam sheikh sultan mahatma duke duchess earl count baron baroness jr sr junior senior doctor
    sainte esq phd md"""
)
NAME_PARTICLES = words_of(
    """de da di do dos du del della der den van von zu zur af av la le el al bin ibn ben y e of the"""
)

# Words of an answer that speak of quantity without saying it.
VAGUE_AMOUNTS = words_of(
    """many several few some couple various numerous multiple lots more unlimited countless all both"""
)
APPROXIMATIONS = words_of(
    """about around approximately approx roughly nearly almost circa ca c some over under more less than at least
    most up to exactly total estimated"""
)
_NICKNAMES = """william/bill/billy/will/willy/liam robert/bob/bobby/rob/bert richard/dick/rick/ricky/rich
    james/jim/jimmy/jamie john/jack/johnny/jon/jonathan joseph/joe/joey thomas/tom/tommy
    charles/charlie/chuck/charley edward/ed/eddie/ted/teddy/ned theodore/ted/teddy/theo
    michael/mike/mick/mickey daniel/dan/danny david/dave/davy samuel/sam/sammy/samantha/sam
    benjamin/ben/benny/benji anthony/tony andrew/andy/drew alexander/alex/sandy/sasha/aleksandr
    nicholas/nick/nicolas/nikolai christopher/chris/kit matthew/matt gregory/greg lawrence/larry/laurence
    gerald/gerry/jerry ronald/ron/ronnie donald/don/donnie kenneth/ken/kenny stephen/steve/steven/stevie
    timothy/tim/timmy francis/frank/franz/frankie frederick/fred/freddie/freddy/friedrich
    henry/harry/hank/heinrich/henri walter/walt albert/al/bert alfred/al/fred/alf abraham/abe
    leonard/len/lenny/leo raymond/ray vincent/vince/vinny zachary/zach philip/phil/phillip peter/pete/pyotr
    patrick/pat/paddy elizabeth/liz/lizzie/beth/betty/eliza/elisabeth
    catherine/kate/katie/cathy/kathy/katherine/kathryn margaret/maggie/meg/peggy/greta
    mary/maria/marie/molly/polly susan/sue/susie/suzanne jennifer/jen/jenny rebecca/becky/rebekah
    deborah/debbie/debra barbara/barb/barbie dorothy/dot/dolly/dorothea victoria/vicky/tori
    johann/johannes/john/hans ludwig/louis/lewis george/georg/jorge/giorgio paul/pablo/pavel
    joan/joanna/jeanne mohammed/muhammad/mohammad/mohamed/mohamad"""
NICKNAMES = tuple(words_of(group.replace("/", " ")) for group in sorted(words_of(_NICKNAMES)))
CORPORATE = words_of("company corporation incorporated limited inc corp llc plc gmbh ag sa co group holdings")
ACRONYM_SKIPS = words_of("of the and for de la in & on du des der und")

ABBREVIATIONS = {
    "sen": "senator", "gov": "governor", "gen": "general", "col": "colonel", "capt": "captain", "lt": "lieutenant",
    "sgt": "sergeant", "prof": "professor", "dr": "doctor", "mt": "mount", "st": "saint", "ste": "sainte",
    "rep": "representative", "pres": "president", "univ": "university", "dept": "department", "intl": "international",
    "corp": "corporation", "inc": "incorporated", "ltd": "limited", "bros": "brothers", "jr": "junior", "sr": "senior",
    "vs": "versus", "govt": "government", "assn": "association", "approx": "approximately", "hq": "headquarters",
}  # fmt: skip

# Same country, whatever the text around it; keys are written as the tokenizer leaves them.
COUNTRY_NAMES = {
    "united states of america": "united states",
    "united states": "united states",
    "usa": "united states",
    "u s a": "united states",
    "u s": "united states",
    "united kingdom of great britain and northern ireland": "united kingdom",
    "united kingdom": "united kingdom",
    "uk": "united kingdom",
    "u k": "united kingdom",
    "ussr": "soviet union",
    "u s s r": "soviet union",
    "union of soviet socialist republics": "soviet union",
    "soviet union": "soviet union",
    "uae": "united arab emirates",
    "u a e": "united arab emirates",
    "united arab emirates": "united arab emirates",
    "prc": "china",
    "peoples republic of china": "china",
    "people's republic of china": "china",
}
# Only as the whole answer: "America" alone is the United States, "South America" is not.
WHOLE_COUNTRY_NAMES = {
    "federative republic of brazil": "brazil",
    "federal republic of germany": "germany",
    "french republic": "france",
    "russian federation": "russia",
    "hellenic republic": "greece",
    "italian republic": "italy",
    "kingdom of spain": "spain",
    "republic of ireland": "ireland",
    "republic of india": "india",
    "us": "united states",
    "america": "united states",
    "merica": "united states",
    "american": "united states",
    "britain": "united kingdom",
    "great britain": "united kingdom",
    "holland": "netherlands",
}
