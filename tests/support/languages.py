"""A few sentences about one morning, in many languages."""

SENTENCES = {
    "de": (
        "Am Morgen lag dichter Nebel über dem Hafen, und die Fischer warteten geduldig, bis die Sonne "
        "durchkam. Der alte Kapitän erzählte ihnen von Stürmen, die er als junger Mann erlebt hatte. Niemand "
        "glaubte ihm alles, aber alle hörten gern zu."
    ),
    "en": (
        "Thick fog lay over the harbour in the morning, and the fishermen waited patiently until the sun came "
        "through. The old captain told them about storms he had lived through as a young man. Nobody believed "
        "everything, but everybody liked to listen."
    ),
    "fr": (
        "Un épais brouillard recouvrait le port ce matin-là, et les pêcheurs attendaient patiemment que le "
        "soleil perce. Le vieux capitaine leur racontait les tempêtes qu'il avait vécues dans sa jeunesse. "
        "Personne ne croyait tout, mais chacun l'écoutait volontiers."
    ),
    "es": (
        "Una espesa niebla cubría el puerto por la mañana y los pescadores esperaban con paciencia a que "
        "saliera el sol. El viejo capitán les contaba las tormentas que había vivido de joven. Nadie se lo "
        "creía todo, pero a todos les gustaba escucharlo."
    ),
    "it": (
        "Una fitta nebbia copriva il porto al mattino e i pescatori aspettavano con pazienza che uscisse il "
        "sole. Il vecchio capitano raccontava loro le tempeste vissute da giovane. Nessuno credeva a tutto, "
        "ma tutti lo ascoltavano volentieri."
    ),
    "pt": (
        "Um nevoeiro espesso cobria o porto de manhã e os pescadores esperavam com paciência que o sol "
        "aparecesse. O velho capitão contava-lhes as tempestades que tinha vivido quando era jovem. Ninguém "
        "acreditava em tudo, mas todos gostavam de o ouvir."
    ),
    "nl": (
        "Er hing 's ochtends een dichte mist boven de haven en de vissers wachtten geduldig tot de zon "
        "doorbrak. De oude kapitein vertelde hun over stormen die hij als jonge man had meegemaakt. Niemand "
        "geloofde alles, maar iedereen luisterde graag."
    ),
    "da": (
        "Der lå tæt tåge over havnen om morgenen, og fiskerne ventede tålmodigt på, at solen brød igennem. "
        "Den gamle kaptajn fortalte dem om storme, han havde oplevet som ung mand. Ingen troede på det hele, "
        "men alle lyttede gerne."
    ),
    "no": (
        "Det lå tett tåke over havnen om morgenen, og fiskerne ventet tålmodig på at sola skulle bryte "
        "gjennom. Den gamle kapteinen fortalte dem om stormer han hadde opplevd som ung mann. Ingen trodde på "
        "alt, men alle hørte gjerne etter."
    ),
    "sv": (
        "Det låg tät dimma över hamnen på morgonen och fiskarna väntade tålmodigt på att solen skulle bryta "
        "igenom. Den gamle kaptenen berättade för dem om stormar som han hade upplevt som ung. Ingen trodde "
        "på allt, men alla lyssnade gärna."
    ),
    "fi": (
        "Aamulla sataman yllä leijui sakea sumu, ja kalastajat odottivat kärsivällisesti, kunnes aurinko tuli "
        "esiin. Vanha kapteeni kertoi heille myrskyistä, joita hän oli kokenut nuorena miehenä. Kukaan ei "
        "uskonut kaikkea, mutta kaikki kuuntelivat mielellään."
    ),
    "et": (
        "Hommikul oli sadama kohal paks udu ja kalurid ootasid kannatlikult, kuni päike välja tuli. Vana "
        "kapten rääkis neile tormidest, mida ta oli noore mehena üle elanud. Keegi ei uskunud kõike, aga kõik "
        "kuulasid meelsasti."
    ),
    "hu": (
        "Reggel sűrű köd borult a kikötőre, és a halászok türelmesen vártak, amíg a nap áttört. Az öreg "
        "kapitány azokról a viharokról mesélt nekik, amelyeket fiatal korában élt át. Senki sem hitt el "
        "mindent, de mindenki szívesen hallgatta."
    ),
    "pl": (
        "Rano nad portem leżała gęsta mgła, a rybacy cierpliwie czekali, aż przebije się słońce. Stary "
        "kapitan opowiadał im o burzach, które przeżył jako młody człowiek. Nikt nie wierzył we wszystko, ale "
        "wszyscy chętnie słuchali."
    ),
    "cs": (
        "Ráno ležela nad přístavem hustá mlha a rybáři trpělivě čekali, až se ukáže slunce. Starý kapitán jim "
        "vyprávěl o bouřích, které zažil jako mladý muž. Nikdo nevěřil všemu, ale všichni rádi poslouchali."
    ),
    "ro": (
        "O ceață deasă acoperea portul dimineața, iar pescarii așteptau cu răbdare să răsară soarele. "
        "Bătrânul căpitan le povestea despre furtunile prin care trecuse în tinerețe. Nimeni nu credea totul, "
        "dar toți îl ascultau cu plăcere."
    ),
    "tr": (
        "Sabahleyin limanın üzerinde yoğun bir sis vardı ve balıkçılar güneşin çıkmasını sabırla bekliyordu. "
        "Yaşlı kaptan onlara gençliğinde yaşadığı fırtınaları anlatıyordu. Kimse her şeye inanmıyordu ama "
        "herkes onu dinlemeyi seviyordu."
    ),
    "ru": (
        "Утром над гаванью лежал густой туман, и рыбаки терпеливо ждали, пока выглянет солнце. Старый капитан "
        "рассказывал им о бурях, которые пережил в молодости. Никто не верил всему, но слушали все с "
        "удовольствием."
    ),
    "uk": (
        "Вранці над гаванню стояв густий туман, і рибалки терпляче чекали, поки вигляне сонце. Старий капітан "
        "розповідав їм про бурі, які пережив замолоду. Ніхто не вірив усьому, але всі слухали залюбки."
    ),
    "bg": (
        "Сутринта над пристанището лежеше гъста мъгла и рибарите търпеливо чакаха да изгрее слънцето. Старият "
        "капитан им разказваше за бурите, които беше преживял като млад. Никой не вярваше на всичко, но "
        "всички слушаха с удоволствие."
    ),
    "el": ("Το πρωί μια πυκνή ομίχλη σκέπαζε το λιμάνι και οι ψαράδες περίμεναν υπομονετικά να βγει ο ήλιος."),
    "ar": (
        "في الصباح غطى ضباب كثيف الميناء وانتظر الصيادون بصبر حتى تشرق الشمس. كان القبطان العجوز يحدثهم عن "
        "العواصف التي عاشها في شبابه."
    ),
    "fa": (
        "صبح مه غلیظی بندر را پوشانده بود و ماهیگیران با صبر منتظر بودند تا خورشید بیرون بیاید. ناخدای پیر از "
        "طوفان‌هایی که در جوانی دیده بود برای آنها می‌گفت."
    ),
    "he": (
        "בבוקר כיסה ערפל כבד את הנמל, והדייגים חיכו בסבלנות עד שתצא השמש. הקברניט הזקן סיפר להם על סערות שעבר בצעירותו."
    ),
    "hi": (
        "सुबह बंदरगाह पर घना कोहरा था और मछुआरे धैर्य से सूरज के निकलने का इंतज़ार कर रहे थे। बूढ़ा कप्तान "
        "उन्हें अपनी जवानी के तूफ़ानों के बारे में बता रहा था।"
    ),
    "ja": ("朝の港には濃い霧が立ちこめ、漁師たちは太陽が顔を出すのを辛抱強く待っていた。"),
    "zh": ("早晨港口上空笼罩着浓雾，渔民们耐心地等待太阳出来。老船长给他们讲述年轻时经历的风暴。"),
    "ko": ("아침에 항구에는 짙은 안개가 끼었고 어부들은 해가 나오기를 참을성 있게 기다렸다."),
    "th": ("ตอนเช้ามีหมอกหนาปกคลุมท่าเรือ ชาวประมงรออย่างอดทนจนกว่าดวงอาทิตย์จะออกมา"),
    "ca": (
        "Al matí una boira espessa cobria el port i els pescadors esperaven amb paciència que sortís el sol. "
        "El vell capità els explicava les tempestes que havia viscut de jove. Ningú no s'ho creia tot, però a "
        "tothom li agradava escoltar-lo."
    ),
    "id": (
        "Pada pagi hari kabut tebal menyelimuti pelabuhan dan para nelayan menunggu dengan sabar sampai "
        "matahari muncul. Kapten tua itu bercerita kepada mereka tentang badai yang pernah ia alami ketika "
        "masih muda."
    ),
    "lt": (
        "Rytą virš uosto tvyrojo tirštas rūkas, ir žvejai kantriai laukė, kol pasirodys saulė. Senas "
        "kapitonas pasakojo jiems apie audras, kurias patyrė jaunystėje. Niekas netikėjo viskuo, bet visi "
        "mielai klausėsi."
    ),
    "lv": (
        "No rīta pār ostu klājās bieza migla, un zvejnieki pacietīgi gaidīja, kamēr parādīsies saule. Vecais "
        "kapteinis viņiem stāstīja par vētrām, ko bija piedzīvojis jaunībā. Neviens visam neticēja, bet visi "
        "labprāt klausījās."
    ),
    "sk": (
        "Ráno ležala nad prístavom hustá hmla a rybári trpezlivo čakali, kým sa ukáže slnko. Starý kapitán im "
        "rozprával o búrkach, ktoré zažil ako mladý muž. Nikto neveril všetkému, ale všetci radi počúvali."
    ),
    "sl": (
        "Zjutraj je nad pristaniščem ležala gosta megla in ribiči so potrpežljivo čakali, da se pokaže sonce. "
        "Stari kapitan jim je pripovedoval o nevihtah, ki jih je doživel kot mlad mož. Nihče ni verjel vsemu, "
        "vendar so vsi radi poslušali."
    ),
    "hr": (
        "Ujutro je nad lukom ležala gusta magla i ribari su strpljivo čekali da se pokaže sunce. Stari "
        "kapetan pričao im je o olujama koje je doživio kao mlad čovjek. Nitko nije vjerovao svemu, ali svi "
        "su rado slušali."
    ),
    "sr": (
        "Ујутру је над луком лежала густа магла и рибари су стрпљиво чекали да се појави сунце. Стари капетан "
        "им је причао о олујама које је доживео као млад човек. Нико није веровао свему, али сви су радо "
        "слушали."
    ),
    "eu": (
        "Goizean laino lodi batek estaltzen zuen portua, eta arrantzaleek pazientziaz itxaroten zuten eguzkia "
        "atera arte. Kapitain zaharrak gaztetan bizi izandako ekaitzak kontatzen zizkien. Inork ez zuen dena "
        "sinesten, baina denek entzuten zuten gustura."
    ),
    "ga": (
        "Bhí ceo trom os cionn an chalafoirt ar maidin, agus d'fhan na hiascairí go foighneach go dtí gur "
        "tháinig an ghrian amach. D'inis an seanchaptaen dóibh faoi na stoirmeacha a bhí feicthe aige agus é "
        "ina fhear óg."
    ),
    "vi": (
        "Buổi sáng sương mù dày đặc bao phủ bến cảng và những ngư dân kiên nhẫn chờ đợi cho đến khi mặt trời "
        "ló ra. Vị thuyền trưởng già kể cho họ nghe về những cơn bão mà ông đã trải qua khi còn trẻ."
    ),
}
"""By ISO 639-1 code."""
