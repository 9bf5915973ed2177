//! What random prompts are written with: common short words, and characters for tokenizers that
//! know no words.

/// Words that nearly every vocabulary holds as one token each with the space before them; the
/// commonest first, as a server is asked about few.
pub(crate) const WORDS: &[&str] = &[
    "the", "and", "for", "with", "that", "this", "from", "have", "been", "were", "when", "more",
    "time", "some", "over", "into", "than", "them", "only", "after", "first", "people", "water",
    "long", "day", "where", "work", "three", "place", "year", "back", "light", "hand", "high",
    "keep", "last", "near", "line", "city", "tree", "farm", "story", "night", "life", "north",
    "book", "room", "friend", "idea", "fish", "stop", "once", "base", "horse", "cut", "sure",
    "watch", "color", "face", "wood", "main", "open", "seem", "next", "white", "begin", "walk",
    "example", "ease", "paper", "group", "always", "music", "those", "both", "mark", "letter",
    "mile", "river", "car", "feet", "care", "second", "enough", "plain", "girl", "usual", "young",
    "ready", "above", "ever", "red", "list", "though", "feel", "talk", "bird", "soon", "body",
    "dog", "family", "direct", "pose", "leave", "song", "measure", "door", "product", "black",
    "short", "class", "wind", "question", "happen", "complete", "ship", "area", "half", "rock",
    "order", "fire", "south", "problem", "piece", "told", "knew", "pass", "since", "top", "whole",
    "king", "space", "heard", "best", "hour", "better", "true", "during", "hundred", "five",
    "remember", "step", "early", "hold", "west", "ground", "interest", "reach", "fast", "listen",
    "six", "table", "travel", "less", "morning", "ten", "simple", "several", "toward", "war",
    "against", "pattern", "slow", "center", "love", "person", "money", "serve", "appear", "road",
    "map", "rain", "rule", "govern", "pull", "cold", "notice", "voice", "unit", "power", "town",
    "fine", "certain", "fly", "fall", "lead", "cry", "dark", "machine", "note", "wait", "plan",
    "figure", "star", "box", "noun", "field", "rest", "correct", "able", "pound", "done", "beauty",
    "drive", "stood", "contain", "front", "teach", "week", "final", "gave", "green", "quick",
    "develop", "ocean", "warm", "free", "minute", "strong", "special", "mind", "behind", "clear",
    "tail", "produce", "fact", "street", "inch", "nothing", "course", "stay", "wheel", "full",
    "force", "blue", "object", "decide", "surface", "deep", "moon", "island", "foot", "system",
    "busy", "test", "record", "boat", "common", "gold", "possible", "plane", "age", "dry",
    "wonder",
];

/// Common Chinese characters, for vocabularies of characters rather than words.
pub(crate) const HAN: &str = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会\
    可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现\
    实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内\
    数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五\
    果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九\
    区强放决西被干做必战先回则任取据处";

/// Letters, for vocabularies of bytes or characters.
pub(crate) const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
